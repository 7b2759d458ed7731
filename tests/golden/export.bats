#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf export`: outputs appear whole or not at all, errors have a line and a documented status.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR" || return
}

# captures_of REPORT: a file, or one per host.
captures_of() {
	ls "${1%.json}".ucxb "${1%.json}".*.ucxb 2>/dev/null
}

# expect STATUS PATTERN ARGUMENT...: the status, and one line on stderr that fits the pattern.
expect() {
	local status=$1 pattern=$2 got=0

	shift 2
	"$UCXBPF" export "$@" >out 2>err || got=$?
	cat err
	[ "$got" -eq "$status" ]
	grep -q "$pattern" err
	[ "$(grep -vc '^Try ' err)" -eq 1 ]
}

@test "json is the report" {
	for report in "$DATA"/*.json; do
		"$UCXBPF" export -f json -o report.json $(captures_of "$report")
		cmp report.json "$report"
	done
	"$UCXBPF" export -f json --kind data --function 'MPI_*send' "$DATA/send.ucxb" >report.json
	"$UCXBPF" replay --json --kind data --function 'MPI_*send' "$DATA/send.ucxb" | cmp - report.json
}

@test "ndjson: the events add up to the report, every line fits the schema" {
	"$UCXBPF" schema >schema
	for report in "$DATA"/*.json; do
		"$UCXBPF" export -f ndjson -o events $(captures_of "$report")
		python3 "$TOP/tests/golden/check_events.py" events "$report" schema
	done
	[ "$(head -1 events)" = '{"event":"export","schema":"ucxbpf.events/1","filter":null}' ]
}

@test "ndjson: filters are those of the report" {
	"$UCXBPF" schema >schema
	for filter in --kind=control --function=MPI_Isend --process=rank:1 "--transport=posix --op=am_short" \
		--host=nowhere --ucp-op=tag_recv; do
		"$UCXBPF" export -f ndjson -o events $filter "$DATA/isend.ucxb"
		"$UCXBPF" replay --json -o report $filter "$DATA/isend.ucxb"
		python3 "$TOP/tests/golden/check_events.py" events report schema
	done
}

@test "ndjson: a comparison that differs is noticed" {
	"$UCXBPF" schema >schema
	"$UCXBPF" export -f ndjson "$DATA/send.ucxb" | sed '20s/"bytes":[0-9]*/"bytes":77/' >events
	run python3 "$TOP/tests/golden/check_events.py" events "$DATA/send.json" schema
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"is "*" in events, "*" in the report"* ]]
}

@test "csv: every member of every row of the report, tables that are there and no others" {
	for report in "$DATA"/*.json; do
		rm -rf tables
		"$UCXBPF" export -f csv -o tables $(captures_of "$report")
		python3 "$TOP/tests/golden/check_csv.py" tables "$report"
	done
	sed -i '2s/,[0-9]*$/,77/' tables/messages.csv
	run python3 "$TOP/tests/golden/check_csv.py" tables "$report"
	[ "$status" -eq 1 ]
}

@test "csv: one table, to a pipe or a file; none of that name, none in the captures" {
	"$UCXBPF" export -f csv -o tables "$DATA/coll.ucxb"
	for table in calls totals ucx; do
		"$UCXBPF" export -f csv --table "$table" "$DATA/coll.ucxb" | cmp - "tables/$table.csv"
		"$UCXBPF" export -f csv --table "$table" -o one "$DATA/coll.ucxb"
		cmp one "tables/$table.csv"
	done
	expect 2 "no table 'pairs'; there are totals, " -f csv --table pairs "$DATA/coll.ucxb"
	expect 1 "no rows for table 'stacks'" -f csv --table stacks "$DATA/coll.ucxb"
	expect 2 "a directory: name one with -o" -f csv "$DATA/coll.ucxb"
}

@test "sqlite: the views are the report's rows, what refers leads somewhere" {
	for report in "$DATA"/*.json; do
		"$UCXBPF" export -f sqlite -o t.db $(captures_of "$report")
		python3 "$TOP/tests/golden/check_sqlite.py" t.db "$report"
	done
	for filter in "--kind=data --process=rank:1" --kind=control --ucp-op=none --memory=gpu0; do
		"$UCXBPF" export -f sqlite $filter -o t.db "$DATA/isend.ucxb"
		"$UCXBPF" replay --json $filter -o report "$DATA/isend.ucxb"
		python3 "$TOP/tests/golden/check_sqlite.py" t.db report
	done
	run python3 "$TOP/tests/golden/check_sqlite.py" t.db "$DATA/isend.json"
	[ "$status" -eq 1 ]
}

@test "sqlite: every view and every question of docs/sqlite.md has an answer" {
	command -v sqlite3 || skip "no sqlite3"
	"$UCXBPF" export -f sqlite -o two.db "$DATA"/hosts.*.ucxb
	"$UCXBPF" export -f sqlite -o hang.db "$DATA/hang.ucxb"
	"$UCXBPF" export -f sqlite -o team.db "$DATA/ucc-alltoall-rndv.ucxb"
	"$UCXBPF" export -f sqlite -o ends.db "$DATA/send-ends.ucxb"
	"$UCXBPF" export -f sqlite -o t.db "$DATA/isend.ucxb"
	for view in $(sqlite3 t.db "SELECT name FROM sqlite_schema WHERE type = 'view'"); do
		for database in t two hang team ends; do
			sqlite3 $database.db "SELECT * FROM $view"
		done >out
		[ -s out ]
		grep -q "\`$view\`" "$TOP/docs/sqlite.md"
	done
	sed -n '/^```sql$/,/^```$/p' "$TOP/docs/sqlite.md" | grep -v '^```' >questions
	[ "$(grep -c ';$' questions)" -ge 6 ]
	sqlite3 -bail t.db <questions
	[ "$(sqlite3 t.db "SELECT sum(bytes) FROM paths WHERE kind = 'data'")" = \
		"$(jq .attribution.data_bytes "$DATA/isend.json")" ]
	"$UCXBPF" export -f sqlite --ucp-op none "$DATA/isend.ucxb" -o t.db
}

@test "sqlite: not to a pipe; a full disk leaves nothing" {
	expect 2 "cannot be written to a pipe" -f sqlite "$DATA/send.ucxb"
	expect 2 "not a regular file" -f sqlite -o /dev/full "$DATA/send.ucxb"
	mkdir small
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	unshare -m sh -c "mount -t tmpfs -o size=64k none small &&
		for format in sqlite ndjson csv; do
			'$UCXBPF' export -f \$format -o small/out '$DATA/coll.ucxb' 2>>err
			echo \$? \$(ls -A small | wc -l) >>out
		done" || true
	cat err out
	[ "$(sort -u out)" = "9 0" ]
	[ "$(grep -c "small/out: .*\(full\|No space\)" err)" -eq 3 ]
}

@test "names meant to do harm come out harmless in every format, GPUs and sums as in the report" {
	made=$(dirname "$UCXBPF")/tests/bench/madefacts
	[ -x "$made" ] || skip "no $made: make tests"
	formats=$("$UCXBPF" export --help | sed -n '/^Formats:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
	[ "$(wc -w <<<"$formats")" -ge 5 ]
	for format in $formats; do
		"$made" "$format" "made.$format"
		python3 "$TOP/tests/golden/check_hostile.py" "$format" "made.$format"
	done
	"$UCXBPF" schema >schema
	python3 "$TOP/tests/golden/check_events.py" made.ndjson made.json schema
	python3 "$TOP/tests/golden/check_csv.py" made.csv made.json
	python3 "$TOP/tests/golden/check_sqlite.py" made.sqlite made.json
	# a line of the schema that a fact lacks is noticed
	sed 's/"tid"/"dit"/' made.ndjson >broken
	run python3 "$TOP/tests/golden/check_events.py" broken made.json schema
	[ "$status" -eq 1 ]
}

@test "no such format: the line lists those there are" {
	expect 2 "such format, but json, " -f jsn "$DATA/send.ucxb"
	expect 2 "which format" "$DATA/send.ucxb"
	expect 2 "which capture" -f json
	expect 2 "not calls, time or bytes" -f folded --amount frames "$DATA/send.ucxb"
	expect 2 "requires the format folded" -f json --amount time "$DATA/send.ucxb"
	expect 2 "does not support --table" -f json --table calls "$DATA/send.ucxb"
	[ ! -s out ]
}

@test "help lists the formats" {
	run "$UCXBPF" export --help
	[ "$status" -eq 0 ]
	for word in Examples: "Exit status" Formats: "  json " "  ndjson " "  csv " "  sqlite " "  folded " --function; do
		[[ $output == *"$word"* ]]
	done
}

@test "captures and directories are never overwritten" {
	cp "$DATA/self.ucxb" self.ucxb
	expect 2 "is a capture, not overwritten" -f json -o self.ucxb "$DATA/send.ucxb"
	cmp self.ucxb "$DATA/self.ucxb"
	mkdir there
	expect 2 "is a directory" -f json -o there "$DATA/send.ucxb"
	"$UCXBPF" export -f csv -o there/ "$DATA/send.ucxb"
	[ -s there/calls.csv ]
	echo mine >there/calls.csv
	expect 2 "already exists" -f csv -o there "$DATA/self.ucxb"
	[ "$(cat there/calls.csv)" = mine ]
}

@test "a failed export leaves what was there, and nothing else" {
	echo before >kept
	ln -s kept link
	expect 1 "nothing written: .* recorded with --stacks" -f folded -o kept "$DATA/send.ucxb"
	expect 3 "nowhere.ucxb" -f json -o kept nowhere.ucxb
	expect 1 "nowhere/kept: cannot be created, its directory does not exist" -f json -o nowhere/kept "$DATA/send.ucxb"
	expect 3 "nowhere.ucxb" -f csv -o tables nowhere.ucxb
	[ ! -e tables ]
	[ "$(cat kept)" = before ]
	"$UCXBPF" export -f json -o link "$DATA/send.ucxb"
	[ -L link ]
	cmp kept "$DATA/send.json"
	[ -z "$(find . -name '*.part-*')" ]
}

@test "a full disk" {
	[ -w /dev/full ] || skip "no /dev/full"
	expect 9 "No space left" -f json -o /dev/full "$DATA/send.ucxb"
	got=0
	"$UCXBPF" export -f json "$DATA/send.ucxb" >/dev/full || got=$?
	[ "$got" -eq 9 ]
}

@test "ended in the middle by a signal: nothing is left" {
	mkcapture=$(dirname "$UCXBPF")/tests/bench/mkcapture
	[ -x "$mkcapture" ] || skip "no $mkcapture: make tests"
	"$mkcapture" large.ucxb 2000000
	mkdir work
	echo before >work/out
	"$UCXBPF" export -f ndjson -o work/out large.ucxb &
	pid=$!
	until [ -n "$(find work -name 'out.part-*' -size +0)" ]; do
		kill -0 $pid
		sleep 0.01
	done
	kill -TERM $pid
	got=0
	wait $pid || got=$?
	[ "$got" -eq 143 ]
	[ "$(ls -A work)" = out ]
	[ "$(cat work/out)" = before ]
}

@test "rights of the output: those of the file it replaces, or the umask's, of root's its own" {
	umask 027
	"$UCXBPF" export -f json -o new "$DATA/send.ucxb"
	[ "$(stat -c %a new)" = "$([ "$EUID" = 0 ] && echo 600 || echo 640)" ]
	chmod 604 new
	"$UCXBPF" export -f json -o new "$DATA/send.ucxb"
	[ "$(stat -c %a new)" = 604 ]
}

@test "a pipe that closes early" {
	run bash -c "set -o pipefail; '$UCXBPF' export -f json '$DATA/coll.ucxb' | head -1"
	[ "${lines[0]}" = "{" ]
}

@test "devices and named pipes are written to directly" {
	"$UCXBPF" export -f json -o /dev/stdout "$DATA/send.ucxb" | cmp - "$DATA/send.json"
	mkfifo pipe
	"$UCXBPF" export -f json -o pipe "$DATA/send.ucxb" &
	pid=$!
	cmp pipe "$DATA/send.json"
	wait $pid
	[ -p pipe ]
}

@test "a truncated capture is exported as far as it goes" {
	head -c $(($(stat -c %s "$DATA/send.ucxb") - 7)) "$DATA/send.ucxb" >short.ucxb
	expect 4 "short.ucxb: " -f json -o report.json short.ucxb
	jq -e '.schema == "ucxbpf.report/1"' report.json
}
