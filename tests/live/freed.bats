# SPDX-License-Identifier: BSD-3-Clause
# Memory that UCX allocated, and that is freed while an operation has its buffer there, is named: as often as the program
# did so, and never where the memory is the program's own, or the operation was over.

load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	touch "$WORK/go"
	[ -z "${TRACER:-}" ] || wait "$TRACER" || true
}

# freed EXPECTED ARGUMENT...; the program goes on once its callback has a probe, so that ends are exact
freed()
{
	local expected=$1

	shift
	UCX_TLS=self,posix timeout 60 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- \
		"$PROGS/ucp/ucp_freed" "$WORK/go" "$@" >"$WORK/out" 3>&- &
	TRACER=$!
	soon so_far "$WORK/a.ucxb" '[.ops[] | select(.op == "tag_recv") | .time.exact] | add > 0'
	touch "$WORK/go"
	wait "$TRACER"
	TRACER=
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	[ "$(jq '[.ops[] | select(.op == "tag_recv") | .count] | add' "$WORK/report.json")" = "$(cat "$WORK/out")" ]
	jq -c .notes "$WORK/report.json"
	[ "$(jq '.notes["operations that were not done when ucp_mem_unmap() freed their memory"] // 0' "$WORK/report.json")" = "$expected" ]
	"$UCXBPF" check -f json "$WORK/a.ucxb" >"$WORK/verdict" || [ $? -le 3 ]
	jq -c '.findings[] | select(.rule == "PROTO-04") | [.verdict, .count, .seen]' "$WORK/verdict" | tee "$WORK/rule"
	[ "$expected" = 0 ] || [[ $(cat "$WORK/rule") == '["fail",'"$expected"',"tag_recv at '* ]]
	[ "$expected" != 0 ] || grep -q '^\["pass",[1-9]' "$WORK/rule"
	[ "$("$UCXBPF" export -f ndjson "$WORK/a.ucxb" | jq -s 'map(select(.event == "op" and .freed)) | length')" = "$expected" ]
}

@test "freed while a receive is open" { freed 3 late=2 early=3 own=4; }
@test "freed after it, or the program's own" { freed 0 late=5 own=4; }

# patched PID: bytes of its program's code that are not as in the file
patched()
{
	/usr/bin/python3 "$TOP/tests/live/check_text.py" --count "$1" |
		awk '/ucp_freed/ { sum += $3 } END { print sum + 0 }'
}

# Both traced processes register the same function of the same file, and have their ends; a third one is not traced.
@test "a callback is probed only in processes that registered it" {
	local probed="[.ops[] | select(.op == \"tag_recv\" and .time.exact > 0) | .process] | unique | length == 2" pid

	UCX_TLS=self,posix timeout 60 "$PROGS/ucp/ucp_freed" "$WORK/go" own=1 >"$WORK/other" 3>&- &
	other=$!
	UCX_TLS=self,posix timeout 60 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- sh -c \
		'"$1" "$2" own=1 & "$1" "$2" own=1; wait' sh "$PROGS/ucp/ucp_freed" "$WORK/go" >"$WORK/out" 3>&- &
	TRACER=$!
	soon so_far "$WORK/a.ucxb" "$probed"
	for pid in $(pgrep -x ucp_freed); do
		echo "$pid $(patched "$pid")"
	done | tee "$WORK/patched"
	touch "$WORK/go"
	wait "$TRACER" "$other"
	TRACER=
	[ "$(awk '$2' "$WORK/patched" | wc -l)" = 2 ]
	[ "$(awk '!$2' "$WORK/patched" | wc -l)" = 1 ]
}
