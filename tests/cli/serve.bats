#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of serve are refused while they are parsed, before anything is opened: as any user, status 2 and one line. Lines of
# captures, and what goes to a batch system.

bats_require_minimum_version 1.5.0

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	SERVE=$TOP/packaging/serve
}

@test "bad values and options that exclude each other" {
	local line options
	while IFS='|' read -r options line; do
		run "$UCXBPF" serve $options </dev/null
		echo "$options: $status $output"
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
		[ "$output" = "ucxbpf serve: $line" ]
	done <<-'END'
		--listen 9489|--listen '9489' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen :9489|--listen ':9489' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen localhost:9489|--listen 'localhost:9489' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen 127.0.0.1:|--listen '127.0.0.1:' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen 127.0.0.1:99999|--listen '127.0.0.1:99999' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen 127.0.0.1:0|--listen '127.0.0.1:0' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen 127.0.0.1|--listen '127.0.0.1' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen [::1]|--listen '[::1]' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen ::1:9489|--listen '::1:9489' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--listen unix:|--listen 'unix:' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH
		--textfile a.txt|--textfile 'a.txt' must end in .prom, node_exporter reads no others
		--textfile .prom|--textfile '.prom' must end in .prom, node_exporter reads no others
		--interval 1|--interval '1' is no time with its unit, such as 10s or 5min
		--interval 500ms|--interval '500ms' is out of range, use 1s to 1h
		--interval 2h|--interval '2h' is out of range, use 1s to 1h
		--keep x|--keep 'x' is no time with its unit, such as 10s or 5min
		--keep 25h|--keep '25h' is out of range, use 1s to 24h
		--budget x|--budget: invalid share 'x', use one of each thread's time (3%), or none
		-p x|'x' is not a process id
		-p 1 --job 2|give one of PID, --job ID and --all
		word|'word' is not a process id
	END
}

@test "help has examples" {
	run "$UCXBPF" serve --help
	[ "$status" = 0 ]
	[[ $output = *"sudo ucxbpf serve --textfile "* ]]
}

@test "a line for each job of captures, below 200 bytes, with the sums of the report" {
	local file count=0
	for file in "$TOP"/tests/data/*.ucxb; do
		run --separate-stderr "$UCXBPF" replay --summary-line "$file"
		[ "$status" = 0 ] || [ "$status" = 4 ]
		printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/lines"
		[ -n "$output" ] || continue
		count=$((count + $(wc -l <"$BATS_TEST_TMPDIR/lines")))
		awk 'length > 199 { exit 1 }' "$BATS_TEST_TMPDIR/lines"
		jq -es 'map(.schema == "ucxbpf.line/1" and .ranks > 0) | all' "$BATS_TEST_TMPDIR/lines"
		# the sums of small ones
		[ "$(stat -c %s "$file")" -lt 100000 ] || continue
		"$UCXBPF" replay --allow-loss --json "$file" | jq -e --slurpfile lines "$BATS_TEST_TMPDIR/lines" '
			([.calls[].count] | add // 0) as $calls | ([$lines[] | .calls // 0] | add) as $told |
			$calls == $told or ($lines | map(has("calls")) | all | not)'
	done
	echo "$count lines"
	[ "$count" -ge 10 ]
}

@test "a line is one report" {
	local option
	for option in --json --folded --html "--function MPI_Send"; do
		run "$UCXBPF" replay --summary-line $option "$TOP/tests/data/coll.ucxb"
		echo "$option: $status $output"
		[ "$status" = 2 ]
		[[ ${lines[0]} = "ucxbpf replay: --"*": ask for one report" ]] ||
			[ "${lines[0]}" = "ucxbpf replay: --summary-line is of the whole capture, without filters" ]
	done
}

@test "lines go to no file of another user, to none with another name, to nothing else" {
	local path=$BATS_TEST_TMPDIR/lines
	[ "$(id -u)" = 0 ] || skip "not root"
	refused() {
		run "$UCXBPF" serve --summaries "$path" -p 4194303 --listen "unix:$BATS_TEST_TMPDIR/socket"
		echo "$status $output"
		[ "$status" = 1 ]
		[ "$output" = "ucxbpf: error: --summaries '$path': $1" ]
	}
	touch "$path"
	chown nobody "$path"
	refused "is another user's, name a new file"
	chown root "$path"
	ln "$path" "$path.too"
	refused "Too many links"
	rm "$path" "$path.too"
	ln -s "$path.there" "$path"
	refused "is a link or a device, name a file"
	[ ! -e "$path.there" ]
	rm "$path"
	mkdir "$path"
	refused "is a directory, name a file"
	path=/dev/null
	refused "is a link or a device, name a file"
	path=$BATS_TEST_TMPDIR/none/lines
	refused "cannot be created, its directory does not exist"
}

@test "the dashboard is JSON, and names metrics that there are" {
	local name
	jq -e '.panels | length > 8' "$SERVE/grafana.json"
	for name in $(jq -r '.. | strings' "$SERVE/grafana.json" | grep -oE 'ucxbpf_[a-z_]+' | sort -u); do
		grep -q "\`$name\`" "$TOP/docs/serve.md"
	done
}

# slurm_script NAME [SETTING...]: packaging/serve/slurm-NAME.sh for job 7 on n0, with settings of a site; nothing answers at
# the place of the service, lines for the log are in log
slurm_script() {
	local name=$1
	shift
	sed "s|^site=.*|site=$PWD/site|" "$SERVE/slurm-$name.sh" >script
	printf '%s\n' "SERVICE=(--unix-socket $PWD/socket http://localhost/metrics)" "SUMMARIES=$PWD/lines" \
		"LOG=(tee -a $PWD/log)" "$@" >site
	SLURM_JOB_ID=7 SLURMD_NODENAME=n0 SLURM_NODELIST='n[0-1]' run timeout 60 bash script
	echo "$status $output"
}

@test "the prolog fails without the service where the site wants it, and waits for none that hangs" {
	cd "$BATS_TEST_TMPDIR"
	slurm_script prolog
	[ "$status" = 0 ]
	grep -q '^job 7 begins, and ucxbpf serve does not answer: curl: (7) ' log
	slurm_script prolog REQUIRED=yes
	[ "$status" = 1 ]
	/usr/bin/python3 -c 'import socket, time
one = socket.socket(socket.AF_UNIX)
one.bind("socket")
one.listen(9)
time.sleep(60)' 3>&- &
	while [ ! -S socket ]; do sleep 0.05; done
	slurm_script prolog
	kill $!
	[ "$status" = 0 ]
	tail -n 1 log | grep -q 'curl: (28) '
}

@test "the epilog takes the job's lines alone, and ends with 0 whatever fails" {
	cd "$BATS_TEST_TMPDIR"
	slurm_script epilog
	[ "$status" = 0 ]
	[ ! -e log ]
	printf '{"schema":"ucxbpf.line/1","job":"%s","step":"%s"}\n' 7 0 77 0 17 0 7 1 >lines
	slurm_script epilog
	[ "$status" = 0 ]
	jq -es 'map("\(.job).\(.step)") == ["7.0", "7.1"]' log
	slurm_script epilog 'LOG=(false)'
	[ "$status" = 0 ]
	slurm_script epilog 'if'
	[ "$status" = 0 ]
	# the first node alone has the comment
	mkdir bin
	printf '#!/bin/bash\nprintf "n0\\nn1\\n"\n' >bin/scontrol
	printf '#!/bin/bash\nprintf "%%s\\n" "$@" >"%s"\nexit 1\n' "$PWD/told" >bin/sacctmgr
	chmod +x bin/*
	slurm_script epilog TO=comment 'SLURMD_NODENAME=n1' "PATH=$PWD/bin:\$PATH"
	[ "$status" = 0 ]
	[ ! -e told ]
	slurm_script epilog TO=comment "PATH=$PWD/bin:\$PATH"
	[ "$status" = 0 ]
	[ "$(head -n -1 told)" = "$(printf '%s\n' -i modify job where jobid=7 set)" ]
	tail -n 1 told | sed 's/^AdminComment=\(.*\)/[\1]/' | jq -e 'map(.step) == ["0", "1"]'
	# nor more than its place in the database has room for
	printf '{"job":"7","step":"%s"}\n' {1..1000} >lines
	slurm_script epilog TO=comment "PATH=$PWD/bin:\$PATH"
	tail -n 1 told | sed 's/^AdminComment=\(.*\)/[\1]/' | jq -e 'length == 300 and last.step == "1000"'
}
