# SPDX-License-Identifier: BSD-3-Clause
# serve: metrics, JSON and lines have the numbers of the programs' ledgers; nothing is left, whatever happens to it.

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/running.bash

UCX_FOLDER=/usr/lib/x86_64-linux-gnu

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	export TMPDIR=$WORK/tmp
	mkdir "$TMPDIR"
	SERVE_PID=
	HOLDER=
	PROMETHEUS=
	IDLE=
}

teardown()
{
	[ -z "$SERVE_PID" ] || kill -TERM "$SERVE_PID" 2>/dev/null || true
	[ -z "$IDLE" ] || kill -TERM "$IDLE" 2>/dev/null || true
	[ -z "$HOLDER" ] || kill -TERM "$HOLDER" 2>/dev/null || true
	touch "$WORK/end"
	[ -z "$PROMETHEUS" ] || kill -TERM "$PROMETHEUS" 2>/dev/null || true
	running_teardown
	! mountpoint -q "$WORK/disk" || umount "$WORK/disk"
}

# A shell that runs each line of its pipe: its jobs alone are traced, from their first instruction.
hold()
{
	mkfifo "$WORK/commands"
	bash -c 'exec <>"$0"; while read -r line; do eval "$line" </dev/null; done' "$WORK/commands" >"$WORK/out" 2>&1 3>&- &
	HOLDER=$!
}

# serve OPTIONS...: for the shell's jobs, asked at a socket
serve()
{
	[ -n "$HOLDER" ] || hold
	"$UCXBPF" serve -p "$HOLDER" --interval 1s --listen "unix:$WORK/socket" "$@" 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	soon scrape
}

scrape()
{
	curl -sf "$@" --unix-socket "$WORK/socket" http://localhost/metrics >"$WORK/metrics"
}

# scraped PATTERN: a scrape has such a line
scraped()
{
	scrape && grep -qE -- "$1" "$WORK/metrics"
}

# answerer: the process that answers; its reader's only child
answerer()
{
	pgrep -P "$(pgrep -o -P "$SERVE_PID" ucxbpf)"
}

# held MPI PROGRAM ARGUMENTS...: in the shell
held()
{
	local mpi=$1 program=$2
	shift 2

	job_command "$mpi" 2 shm n "$PROGS/$mpi/$program" "$@"
	echo "${JOB[*]@Q}" >"$WORK/commands"
}

# stop_serve SIGNAL: nothing is left of it
stop_serve()
{
	kill "-$1" "$SERVE_PID"
	wait "$SERVE_PID" || ENDED=$?
	SERVE_PID=
	left_nothing() { [ -z "$(ls -A "$TMPDIR")" ] && [ ! -e "$WORK/socket" ] && [ ! -e "$WORK/x.prom" ]; }
	soon left_nothing
}

rate_of_job()
{
	STOP=$WORK/stop
	export TRUTH=$WORK/truth JOB_EXTRA=PBS_JOBID=4711.here
	mkdir "$TRUTH"
	held "$1" mpi_rate "$STOP" 200
	soon running
	sleep 2
	touch "$STOP"
}

numbers()
{
	serve --json --textfile "$WORK/x.prom" --summaries "$WORK/lines" --budget none >"$WORK/json"
	rate_of_job "$1"
	soon scraped '^ucxbpf_processes_ended_total\{jobid="4711.here",step="",status="0"\} 2$'
	# the same interval in both
	alike() { scrape && cmp "$WORK/x.prom" "$WORK/metrics"; }
	soon alike
	cp "$WORK/metrics" "$WORK/plain"
	scrape -H 'Accept: application/openmetrics-text'
	stop_serve TERM
	[ -z "${ENDED:-}" ]
	[ ! -s "$WORK/warnings" ]
	[ "$(/usr/bin/python3 "$TOP/tests/live/check_serve.py" "$TRUTH" 4711.here "$WORK/plain" "$WORK/metrics" "$WORK/json" \
		"$TOP/docs/serve.schema.json" "$WORK/lines")" -gt 1000000 ]
}

@test "metrics, JSON and line have the ledger's numbers: openmpi" { numbers openmpi; }

@test "metrics, JSON and line have the ledger's numbers: mpich" { numbers mpich; }

@test "promtool takes the metrics of a job, and of none" {
	command -v promtool >/dev/null || skip "no promtool"
	serve
	promtool check metrics <"$WORK/metrics"
	rate_of_job openmpi
	soon scraped '^ucxbpf_mpi_calls_total\{jobid="4711.here"'
	promtool check metrics <"$WORK/metrics"
}

@test "Prometheus scrapes it, and knows every query of the dashboard" {
	local expr true

	command -v prometheus >/dev/null || skip "no prometheus"
	hold
	"$UCXBPF" serve -p "$HOLDER" --interval 1s --listen 127.0.0.1:39489 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	cat >"$WORK/prometheus.yml" <<-END
		scrape_configs:
		  - job_name: ucxbpf
		    scrape_interval: 1s
		    static_configs:
		      - targets: ["127.0.0.1:39489"]
	END
	promtool check config "$WORK/prometheus.yml"
	prometheus --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/tsdb" --web.listen-address=127.0.0.1:39490 \
		>"$WORK/prometheus.log" 2>&1 3>&- &
	PROMETHEUS=$!
	# its probes are in place
	soon curl -sf http://127.0.0.1:39489/metrics
	rate_of_job openmpi
	query() { curl -sf http://127.0.0.1:39490/api/v1/query --data-urlencode "query=$1" >"$WORK/answer"; }
	has() { query "$1" && jq -e '.status == "success" and (.data.result | length > 0)' "$WORK/answer"; }
	soon has 'ucxbpf_processes_ended_total{jobid="4711.here",status="0"} == 2'
	while IFS= read -r expr; do
		expr=${expr//\$__rate_interval/20s}
		expr=${expr//\"\$instance\"/\".*\"}
		expr=${expr//\"\$jobid\"/\".*\"}
		# a rate needs two scrapes
		soon has "$expr"
	done < <(jq -r '.panels[].targets[].expr' "$TOP/packaging/serve/grafana.json")
	# the numbers of Prometheus are the ledger's
	query 'sum(ucxbpf_operation_bytes_total{jobid="4711.here"})'
	true=$(tail -q -n 1 "$TRUTH/0.log" "$TRUTH/1.log" | awk '{ sum += $4 } END { printf "%.0f", sum }')
	echo "ledger $true, $(cat "$WORK/answer")"
	jq -e --argjson true "$true" '.data.result[0].value[1] | tonumber | . >= $true and . <= $true + 4' "$WORK/answer"
	kill -TERM "$PROMETHEUS"
	wait "$PROMETHEUS"
	PROMETHEUS=
}

@test "a service that is killed leaves nothing, nor does one whose reader is" {
	local reader

	for victim in tracer reader; do
		serve --textfile "$WORK/x.prom"
		soon test -s "$WORK/x.prom"
		reader=$(pgrep -o -P "$SERVE_PID" ucxbpf)
		if [ "$victim" = tracer ]; then
			stop_serve KILL
		else
			kill -KILL "$reader"
			wait "$SERVE_PID" || ENDED=$?
			SERVE_PID=
			[ "$ENDED" = 1 ]
			grep -q '^ucxbpf: error: the reader of the view ended by signal 9$' "$WORK/warnings"
			[ -z "$(ls -A "$TMPDIR")" ]
			[ ! -e "$WORK/socket" ]
		fi
	done
	# a socket that is left gives way, one that is listened on does not
	/usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$WORK/socket"
	serve
	run -1 "$UCXBPF" serve --listen "unix:$WORK/socket"
	[[ $output = "ucxbpf: error: cannot listen on 'unix:$WORK/socket': Address already in use"* ]]
	scrape
}

# asks GROUP: the service at that socket answers nobody, if nobody is in the group
asks() { setpriv --reuid=65534 --regid="$1" --clear-groups curl -sf --unix-socket "$SHARED/socket" http://localhost/metrics; }

@test "only the group of its folder can use the socket" {
	SHARED=$(mktemp -d /tmp/ucxbpf-shared-XXXXXX)
	chgrp 54321 "$SHARED"
	chmod 2750 "$SHARED"
	hold
	"$UCXBPF" serve -p "$HOLDER" --interval 1s --listen "unix:$SHARED/socket" 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	soon asks 54321
	[ "$(stat -c '%a %g' "$SHARED/socket")" = "660 54321" ]
	run -7 asks 65534
	chmod 2755 "$SHARED"
	run -7 asks 65534
	stop_serve TERM
	rmdir "$SHARED"
}

@test "a disk that is full: a warning, a counter, whole lines or none" {
	mkdir "$WORK/disk"
	mount -t tmpfs -o size=64k none "$WORK/disk" || skip "no tmpfs"
	serve --textfile "$WORK/disk/x.prom" --summaries "$WORK/disk/lines" --json >"$WORK/json"
	soon test -s "$WORK/disk/x.prom"
	cat /dev/zero >"$WORK/disk/fill" 2>/dev/null || true
	soon scraped '^ucxbpf_unwritten_total [1-9]'
	JOB_EXTRA=PBS_JOBID=4711.here held openmpi mpi_send
	soon scraped '^ucxbpf_processes_ended_total\{jobid="4711.here",step="",status="0"\} 2$'
	[ "$(grep -c "^ucxbpf: warning: .*x.prom: No space left on device$" "$WORK/warnings")" = 1 ]
	[ ! -s "$WORK/disk/lines" ]
	rm "$WORK/disk/fill"
	JOB_EXTRA=PBS_JOBID=4712.here held openmpi mpi_send
	soon grep -q 4712.here "$WORK/disk/lines"
	jq -es 'map(.job) == ["4712.here"]' "$WORK/disk/lines"
	soon grep -q '^ucxbpf_unwritten_total [1-9]' "$WORK/disk/x.prom"
	stop_serve TERM
	[ -z "${ENDED:-}" ]
	[ ! -e "$WORK/disk/x.prom" ]
}

@test "many short jobs: a line for each, and their counters go" {
	local n

	serve --summaries "$WORK/lines" --keep 1s --json >"$WORK/json"
	for ((n = 1; n <= 12; n++)); do
		JOB_EXTRA=PBS_JOBID=$n.here held "$([ $((n % 2)) = 0 ] && echo openmpi || echo mpich)" mpi_self
	done
	all_lines() { [ -e "$WORK/lines" ] && [ "$(wc -l <"$WORK/lines")" = 12 ]; }
	soon all_lines || { cat "$WORK/lines" "$WORK/out" && return 1; }
	jq -es '[.[].job] | sort == ([range(1; 13) | "\(.).here"] | sort)' "$WORK/lines"
	# the end of each process was seen
	jq -es '[.[].jobs[] | select(.jobid != null)] | map(.exited_unknown) | max == 0' "$WORK/json"
	jq -es '[.[].jobs[] | select(.exited_0 > 0) | .jobid] | unique | length == 12' "$WORK/json"
	soon scraped '^ucxbpf_jobs 0$'
	grep -q '^ucxbpf_jobs_seen_total 12$' "$WORK/metrics"
	grep -q '^ucxbpf_lost_records_total 0$' "$WORK/metrics"
	! grep -q 'jobid=' "$WORK/metrics" || false
}

@test "nobody else is answered: other paths, methods and hosts" {
	code() { curl -s -o /dev/null -w '%{http_code}' "$@"; }

	hold
	"$UCXBPF" serve -p "$HOLDER" --interval 1s --listen 127.0.0.1:39489 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	soon curl -sf http://127.0.0.1:39489/metrics
	[ "$(code http://127.0.0.1:39489/)" = 404 ]
	[ "$(code http://127.0.0.1:39489/metrics/x)" = 404 ]
	[ "$(code -X POST http://127.0.0.1:39489/metrics)" = 405 ]
	[ "$(code -X POST -d x http://127.0.0.1:39489/metrics)" = 413 ]
	[ "$(code -H 'Host: evil.example' http://127.0.0.1:39489/metrics)" = 403 ]
	[ "$(code -H 'Host: 127.0.0.1.evil.example' http://127.0.0.1:39489/metrics)" = 403 ]
	[ "$(code --request-target http://192.0.2.1/metrics http://127.0.0.1:39489/metrics)" = 403 ]
	[ "$(code -H 'Host: [::1]:39489' http://127.0.0.1:39489/metrics)" = 200 ]
	[ "$(code -0 -H 'Host:' http://127.0.0.1:39489/metrics)" = 200 ]
	[ "$(code 'http://localhost:39489/metrics?a=b')" = 200 ]
	[ "$(curl -sI http://127.0.0.1:39489/metrics | grep -ci '^content-length: [1-9]')" = 1 ]
	[ "$(curl -sI -o /dev/null -w '%{http_code} %header{connection}' http://127.0.0.1:39489/metrics)" = "200 close" ]
	[ "$(code -H "X: $(printf 'a%.0s' {1..9000})" http://127.0.0.1:39489/metrics)" = 400 ]
	# nobody's, without capabilities, confined
	grep -q $'^Uid:\t65534\t65534\t65534\t65534$' "/proc/$(answerer)/status"
	grep -q $'^Groups:\t *$' "/proc/$(answerer)/status"
	[ "$(sed -n 's/^Cap\(Eff\|Prm\):\t//p' "/proc/$(answerer)/status" | sort -u)" = 0000000000000000 ]
	grep -q $'^Seccomp:\t2$' "/proc/$(answerer)/status"
}

@test "clients that are silent keep nobody out, and are let go" {
	serve
	/usr/bin/python3 - "$WORK/socket" "$WORK/held" <<-'END' 3>&- &
		import socket, sys
		idle = []
		for i in range(200):
		    one = socket.socket(socket.AF_UNIX)
		    one.connect(sys.argv[1])
		    one.send(b"GET /metrics HTTP/1.1\r\nX: " + b"a" * (i % 3) * 1000)
		    idle.append(one)
		# nor one that goes on sending
		import threading, time
		def drip(one):
		    try:
		        while True:
		            one.send(b"a")
		            time.sleep(0.5)
		    except OSError:
		        pass
		threading.Thread(target=drip, args=(idle[-1],)).start()
		open(sys.argv[2], "w")
		# each is closed, and none has an answer
		for one in idle:
		    one.settimeout(60)
		    try:
		        assert one.recv(1) == b""
		    except ConnectionResetError:
		        pass
	END
	IDLE=$!
	soon test -e "$WORK/held"
	scrape
	# beside its own eight
	[ "$(ls "/proc/$(answerer)/fd" | wc -l)" -le $((8 + 16)) ]
	wait "$IDLE"
	IDLE=
	scrape
	grep -q '^ucxbpf_lost_records_total 0$' "$WORK/metrics"
}

@test "an output that is not read holds up neither scrapes nor the end" {
	local sleeper

	mkfifo "$WORK/pipe"
	# full, and open to read
	/usr/bin/python3 - "$WORK/pipe" <<-'END' 3>&- &
		import os, sys, time
		pipe = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)
		try:
		    while True:
		        os.write(pipe, b" " * 4096)
		except BlockingIOError:
		    open(sys.argv[1] + ".full", "w")
		time.sleep(600)
	END
	IDLE=$!
	soon test -e "$WORK/pipe.full"
	serve --json >"$WORK/pipe"
	soon scraped '^ucxbpf_unwritten_total [1-9]'
	JOB_EXTRA=PBS_JOBID=4711.here held openmpi mpi_send
	soon scraped '^ucxbpf_processes_ended_total\{jobid="4711.here",step="",status="0"\} 2$'
	[ "$(cat "$WORK/warnings")" = "ucxbpf: warning: standard output is not read: objects are left out" ]
	kill -TERM "$SERVE_PID"
	gone() { ! kill -0 "$SERVE_PID"; }
	soon gone
	wait "$SERVE_PID"
	SERVE_PID=
}

@test "all jobs of the node, each with its numbers" {
	"$UCXBPF" serve --all --interval 1s --listen "unix:$WORK/socket" --summaries "$WORK/lines" 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	soon scrape
	hold
	for id in 4711 4712; do
		JOB_EXTRA=PBS_JOBID=$id.here held "$([ $id = 4711 ] && echo openmpi || echo mpich)" cg 900 1 20
	done
	soon grep -q '"job":"4711.here"' "$WORK/lines"
	soon grep -q '"job":"4712.here"' "$WORK/lines"
	# first calls, too
	jq -es 'map(select(.job == ("4711.here", "4712.here")) | .ranks == 2 and .sends > 0 and .top != null) | length == 2 and all' "$WORK/lines"
	stop_serve TERM
	[ -z "${ENDED:-}" ]
	[ ! -s "$WORK/warnings" ]
}

@test "32 ranks that start at once: no record is lost, in less than 64 MiB" {
	local pid memory=0

	serve --budget none
	STOP=$WORK/stop
	export TRUTH=$WORK/truth JOB_EXTRA=PBS_JOBID=4711.here
	mkdir "$TRUTH"
	job_command openmpi 32 shm n "$PROGS/openmpi/mpi_alltoall" "$STOP" 1000 4000
	echo "${JOB[*]@Q}" >"$WORK/commands"
	all_running() { [ "$(ls "$TRUTH"/*.running | wc -l)" = 32 ]; }
	soon all_running
	soon scraped '^ucxbpf_processes\{jobid="4711.here",step=""\} 32$'
	for pid in "$SERVE_PID" $(pgrep -P "$SERVE_PID" ucxbpf) "$(answerer)"; do
		memory=$((memory + $(awk '$1 == "Pss:" { print $2 }' "/proc/$pid/smaps_rollup")))
	done
	echo "$memory KiB"
	touch "$STOP"
	soon scraped '^ucxbpf_processes_ended_total\{jobid="4711.here",step="",status="0"\} 32$'
	grep '^ucxbpf_lost_records_total' "$WORK/metrics"
	grep -q '^ucxbpf_lost_records_total 0$' "$WORK/metrics"
	[ "$memory" -lt 65536 ]
}

# own_libraries NUMBER: a job with UCX of its own, which is deleted after it
own_libraries()
{
	local to=$WORK/own-$1

	mkdir "$to"
	cp $UCX_FOLDER/libuc[mpst].so.0 "$to"
	cp -r $UCX_FOLDER/ucx "$to"
	# for longer than it takes to place probes in files that were never seen
	JOB_EXTRA="PBS_JOBID=$1.own LD_LIBRARY_PATH=$to" held mpich cg 600 1 20
	soon grep -q "\"job\":\"$1.own\"" "$WORK/lines"
	ls -l "/proc/$SERVE_PID/fd" | grep -q "own-$1/libucp.so.0"
	rm -rf "$to"
}

serve_all()
{
	hold
	"$UCXBPF" serve --all --interval 1s --listen "unix:$WORK/socket" --summaries "$WORK/lines" 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	soon scrape
}

# own_end JOB END...: a job of one send, with files that were never seen
own_end()
{
	local folder=$WORK/own-$1

	mkdir "$folder"
	cp $UCX_FOLDER/libuc[mpst].so.0 "$folder"
	cp -r $UCX_FOLDER/ucx "$folder"
	echo "PBS_JOBID=$1 LD_LIBRARY_PATH=$folder $PROGS/ucp/ucp_end ${*:2}; touch $folder/done" >"$WORK/commands"
}

missed()
{
	awk '/^ucxbpf_processes_missed_total / { print $2 }' "$WORK/metrics"
}

# Others may have jobs here, too. A process that ends while it is looked at has no job.
short_lines()
{
	jq -c 'select(.job // "" | endswith(".short"))' "$WORK/lines"
}

# counted: processes that have a line, and those that ended before a look
counted()
{
	local nameless

	# of processes that ended before their environment was read; a job has one line, theirs may be written already
	nameless=$(sed -n 's/^ucxbpf_processes_late_total{jobid="",.* //p' "$WORK/metrics")
	echo $(($(short_lines | jq -s 'map(.ranks) | add // 0') + ${nameless:-0} + $(missed)))
}

all_short()
{
	scrape && [ "$(counted)" -ge "$1" ]
}

# short_own N: serve is idle between jobs that end at once
short_own()
{
	local n count=$1

	for ((n = 1; n <= count; n++)); do
		own_end $n.short status 0
		soon test -e "$WORK/own-$n.short/done"
		sleep 1.5
	done
	soon all_short "$count" || { cat "$WORK/metrics" && return 1; }
	! grep '^ucxbpf_processes{.*short.* [1-9]' "$WORK/metrics" || false
	short_lines | tee "$WORK/short"
	[ "$(counted)" -eq "$count" ]
	# the probes of some came too late to count anything, and no number says otherwise
	jq -es 'all(if .sends then .sends >= 1 and .sends <= .ranks else .bytes == null and .why == "late-probes" end)' "$WORK/short"
	# ended jobs do not come back
	jq -es 'map(.job) | length == (unique | length)' "$WORK/short"
}

# It sends before its files have probes, and lives until they have some.
late_own()
{
	kill -STOP "$SERVE_PID"
	own_end 1.late file "$WORK/end"
	soon grep -q sent "$WORK/out"
	kill -CONT "$SERVE_PID"
	soon scraped '^ucxbpf_processes_late_total\{jobid="1.late",step=""\} 1$'
	touch "$WORK/end"
	soon grep -q '"job":"1.late"' "$WORK/lines"
	jq -es 'map(select(.job == "1.late")) | length == 1 and all(.sends == null and .bytes == null and .why == "late-probes")' \
		"$WORK/lines"
	[ "$(missed)" = 0 ]
}

# They have ended when serve looks: they have no lines.
missed_own()
{
	kill -STOP "$SERVE_PID"
	own_end 1.gone status 0
	own_end 2.gone status 0
	soon test -e "$WORK/own-2.gone/done"
	kill -CONT "$SERVE_PID"
	soon scraped '^ucxbpf_processes_missed_total 2$'
	! grep -q '"job":"[12].gone"' "$WORK/lines" || false
}

@test "a job that sends before its files have probes: nothing is known of it, not 0" {
	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve --summaries "$WORK/lines"
	late_own
}

@test "likewise one that --all finds" {
	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve_all
	late_own
}

@test "jobs that have ended when serve looks are counted" {
	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve --summaries "$WORK/lines"
	missed_own
}

@test "likewise those that --all would have found" {
	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve_all
	missed_own
}

@test "of jobs that end at once none is lost" {
	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve --summaries "$WORK/lines"
	short_own 5
}

@test "nor of those that --all may find: their ends are seen, too" {
	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve_all
	short_own 8
}

no_own()
{
	! ls -l "/proc/$SERVE_PID/fd" | grep -q 'own-.*(deleted)' || false
}

@test "libraries that jobs bring along are let go" {
	local n

	[ -e $UCX_FOLDER/libucp.so.0 ] || skip "UCX lies elsewhere"
	serve --summaries "$WORK/lines"
	for n in 1 2 3; do
		own_libraries $n
	done
	jq -es 'map(select(.sends > 0).job) | unique | length == 3' "$WORK/lines"
	# addresses in their code are known for half a minute more
	soon no_own
	scraped '^ucxbpf_lost_records_total 0$'
}

@test "another's socket and file stay" {
	serve
	# the place is another's by now
	rm "$WORK/socket"
	/usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$WORK/socket"
	kill -TERM "$SERVE_PID"
	wait "$SERVE_PID"
	SERVE_PID=
	[ -S "$WORK/socket" ]
	# one that listens and lets nobody in
	rm "$WORK/socket"
	/usr/bin/python3 - "$WORK/socket" <<-'END' 3>&- &
		import socket, sys, time
		one = socket.socket(socket.AF_UNIX)
		one.bind(sys.argv[1])
		one.listen(0)
		clients = [socket.socket(socket.AF_UNIX) for _ in range(4)]
		for client in clients:
		    client.setblocking(False)
		    try:
		        client.connect(sys.argv[1])
		    except BlockingIOError:
		        open(sys.argv[1] + ".full", "w")
		time.sleep(600)
	END
	IDLE=$!
	soon test -e "$WORK/socket.full"
	run -1 timeout 20 "$UCXBPF" serve -p "$HOLDER" --listen "unix:$WORK/socket"
	[[ $output = "ucxbpf: error: cannot listen on 'unix:$WORK/socket': Address already in use"* ]]
}

@test "the unit's capabilities are enough, and systemd takes the unit" {
	local unit=$TOP/packaging/serve/ucxbpf-serve.service list

	list=$(sed -n 's/^AmbientCapabilities=//p' "$unit" | tr 'A-Z ' 'a-z,')
	[ "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z ' 'a-z,')" = "$list" ]
	if command -v systemd-analyze; then
		sed "s#/usr/local/bin/ucxbpf#$UCXBPF#" "$unit" >"$WORK/ucxbpf-serve.service"
		systemd-analyze verify --man=no "$WORK/ucxbpf-serve.service" 2>"$WORK/unit.err"
		! grep -q ucxbpf-serve "$WORK/unit.err" || false
		# what docs/serve.md says, in tenths
		systemd-analyze security --offline=true --threshold=25 --no-pager "$WORK/ucxbpf-serve.service"
	fi
	PLACE=$(mktemp -d /var/tmp/ucxbpf-serve-XXXXXX)
	chmod 755 "$PLACE"
	install -d -o 65534 -m 700 "$PLACE/own"
	cp "$UCXBPF" "$PLACE/ucxbpf"
	hold
	list=${list//cap_/+}
	TMPDIR=$PLACE/own setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="-all,$list" --ambient-caps="-all,$list" \
		--bounding-set="-all,$list" --no-new-privs "$PLACE/ucxbpf" serve -p "$HOLDER" --interval 1s \
		--listen 127.0.0.1:39491 --summaries "$PLACE/own/lines" 2>"$WORK/warnings" 3>&- &
	SERVE_PID=$!
	# the process that answers has no privilege at all
	answers() { curl -sf http://127.0.0.1:39491/metrics >"$WORK/metrics"; }
	soon answers
	[ "$(sed -n 's/^CapEff:\t//p' "/proc/$(answerer)/status")" = 0000000000000000 ]
	JOB_EXTRA=PBS_JOBID=4711.here held openmpi mpi_send
	soon grep -q '"job":"4711.here"' "$PLACE/own/lines"
	jq -e '.sends > 0 and .top != null' "$PLACE/own/lines"
	kill -TERM "$SERVE_PID"
	wait "$SERVE_PID"
	SERVE_PID=
	rm -rf "$PLACE"
}
