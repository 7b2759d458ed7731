# SPDX-License-Identifier: BSD-3-Clause
# For live tests (bats): trace a job, read the capture again, compare with the program's ledger.
#
#   KEEP=DIR       keeps captures and reports there
#   TRACE_OPTIONS  more options of `ucxbpf run`
#   CHECK_OPTIONS  more options of check.py

. "$(dirname "${BASH_SOURCE[0]}")/job.sh"

UCXBPF=${UCXBPF:-$BUILD/ucxbpf}
export UCXBPF_BUDGET=${UCXBPF_BUDGET:-none} # all records of busy loops are wanted
CHECK=$TOP/tests/live/check.py

# A bed of its own for each bats file: several may run at once.
live_file_setup()
{
	export BED=u$((BASHPID % 100000))
}

live_file_teardown()
{
	"$TOP/tests/nodes" down
}

live_setup()
{
	local status=0

	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -x "$UCXBPF" ] || skip "ucxbpf is not built"
	WORK=$BATS_TEST_TMPDIR
	"$UCXBPF" run -q -o "$WORK/probe.ucxb" -- true >"$WORK/probe.out" 2>&1 || status=$?
	case $status in
	5 | 6) skip "no tracing here: $(head -n 1 "$WORK/probe.out")" ;;
	esac
}

# nodes_up [COUNT]: 2 by default; the first call of a file decides
nodes_up()
{
	[ -e "/run/ucxbpf-$BED" ] || "$TOP/tests/nodes" up "${1:-2}" || skip "no network namespaces here"
}

JOB_SECONDS=20 # that a job may take

trace_once()
{
	local mpi=$1 transport=$2 proto=$3
	shift 3

	rm -rf "$CASE"
	mkdir -p "$CASE/truth" "$CASE/witness"
	export TRUTH=$CASE/truth WITNESS=$CASE/witness
	if [ "$mpi" = ucp ]; then
		ucp_command "$transport" "$proto" "$@"
	else
		job_command "$mpi" "${RANKS:-2}" "$transport" "$proto" "$@"
	fi
	! declare -F before_attempt >/dev/null || before_attempt
	timeout -k 5 60 "$UCXBPF" run -q ${TRACE_OPTIONS:-} -o "$CASE/job.ucxb" -- \
		timeout -k 2 $JOB_SECONDS "${JOB[@]}" >"$CASE/out" 2>&1
}

# trace NAME MPI TRANSPORT PROTO PROGRAM ARGUMENTS...: sets $status to the job's and $CASE to the
# folder with capture, report and ledgers. A function before_attempt, if there is one, is called before each run.
trace()
{
	CASE=$WORK/$1-$2-$3-$4
	status=0
	trace_once "${@:2}" </dev/null || status=$?
}

# report [CHECK'S OPTIONS...]: replays the capture of the last trace, twice alike, and compares.
# REPLAY_OPTIONS: of both. NO_UCX=N: so many processes loaded MPI but no UCX (0).
report()
{
	"$UCXBPF" replay --json ${REPLAY_OPTIONS:-} "$CASE/job.ucxb" >"$CASE/report.json" 2>"$CASE/replay.err" || {
		echo "replay failed: $(tail -n 1 "$CASE/replay.err")"
		return 1
	}
	"$UCXBPF" replay --json ${REPLAY_OPTIONS:-} "$CASE/job.ucxb" 2>/dev/null | cmp - "$CASE/report.json" || return 1
	[ -z "${KEEP:-}" ] || cp -r "$CASE" "$KEEP/"
	[ "$(jq -r '[.notes | keys[] | select(contains("no UCX")) | split(" ")[0] | tonumber] | add // 0' \
		"$CASE/report.json")" = "${NO_UCX:-0}" ] || {
		echo "not ${NO_UCX:-0} processes are said to have no UCX"
		return 1
	}
	in_form "$CASE/report.json" && /usr/bin/python3 "$CHECK" "$CASE/report.json" "$CASE/truth" "$@"
}

# in_form REPORT: has the form of a report, and its sums balance; prints where not
in_form()
{
	local breaches

	breaches=$(jq -r -f "$TOP/tests/golden/schema.jq" "$1") && [ -z "$breaches" ] || {
		head -n 20 <<<"$breaches"
		return 1
	}
}

# callers_stacked REPORT: every operation outside MPI has a stack, which begins with its caller or with a function of
# UCP's older API; both tables have the same operations.
callers_stacked()
{
	jq -e 'def sums(key): group_by([.process, key]) |
			map([.[0].process, (.[0] | key), ([.[].count] | add), ([.[].bytes] | add)]);
		([.callers[].op] | unique) as $ops |
		[.stacks[] | select(.function | IN($ops[]))] as $stacks |
		[.callers[] | [.process, .op, .label]] as $callers |
		($stacks | length > 0) and (.callers | sums(.op)) == ($stacks | sums(.function)) and
		all($stacks[]; . as $row | any($row.frames[:2][]; [$row.process, $row.function, .label] | IN($callers[])))' "$1"
}

# as_witnessed CAPTURE VERDICT: operations and data are those of the witness in $WITNESS, PATH-13 comes to the verdict.
# Leaves $WORK/report.json and $WORK/verdict.
as_witnessed()
{
	"$UCXBPF" replay --json "$1" >"$WORK/report.json"
	in_form "$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_perftest.py" "$WORK/report.json" "$WITNESS"
	"$UCXBPF" check -f json "$1" >"$WORK/verdict" || [ $? -le 2 ]
	[ "$(jq -r '.findings[] | select(.rule == "PATH-13") | .verdict' "$WORK/verdict")" = "$2" ]
}

declare -gA MOVED_BY=([shm]=posix,cma,self [sysv]=sysv,self [tcp]=tcp,self)

# one_case WANTED-STATUS NAME MPI TRANSPORT PROTO PROGRAM ARGUMENTS...
one_case()
{
	local wanted=$1 differences
	shift

	trace "$@"
	if [ "$status" != "$wanted" ]; then
		echo "$2 $3 proto=$4 $1: exit status $status instead of $wanted"
		tail -n 5 "$CASE/out"
		return 1
	fi
	differences=$(report --transports "${MOVED_BY[$3]}" ${CHECK_OPTIONS:-}) || {
		echo "$2 $3 proto=$4 $1:"
		head -n 20 <<<"$differences" | sed 's/^/    /'
		return 1
	}
}

# checked STATUS FILTER FILE...: by $WORK/site.yaml, into $WORK/check.json; prints what jq makes of each
# finding. Fails where the exit status is another, and says so where its output is compared.
checked()
{
	local got=0

	"$UCXBPF" check -P "$WORK/site.yaml" -f json -o "$WORK/check.json" "${@:3}" || got=$?
	jq -r ".findings[] | $2" "$WORK/check.json"
	[ "$got" = "$1" ] || {
		echo "exit status $got, not $1"
		return 1
	}
}

# A short job's start may be uneven: what is for information alone is no fault.
NOT_IN_ORDER='select(.verdict != "pass" and .verdict != "skip" and .severity != "info")'

# judged STATUS FILE...: "VERDICT RULE SUBJECT" of what is not in order
judged()
{
	checked "$1" "$NOT_IN_ORDER"' | "\(.verdict) \(.rule) \(.subject)"' "${@:2}"
}

# matrix MPI|ucp TRANSPORT PROGRAM...: every program with every protocol; reports all that fail.
matrix()
{
	local mpi=$1 transport=$2 proto program failed=0
	shift 2

	[ "$transport" = tcp ] && nodes_up
	for program in "$@"; do
		for proto in n y; do
			one_case 0 "$program" "$mpi" "$transport" "$proto" "$PROGS/$mpi/$program" ||
				failed=$((failed + 1))
		done
	done
	[ "$failed" = 0 ]
}
