# SPDX-License-Identifier: BSD-3-Clause
# For tests that wait: for what they wait for, never for a time.

# soon COMMAND...: again and again until it is true; after a minute the test has failed
soon()
{
	local end=$((SECONDS + 60))

	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "never came true: $*"; return 1; }
		sleep 0.05
	done
}

# so_far FILE FILTER: what a tracer at work has written, as a report, fits the filter of jq. The file begins when
# recording does.
so_far()
{
	local report

	[ -s "$1" ] || return 1
	report=$("$UCXBPF" replay --json "$1" 2>/dev/null) || [ $? = 4 ] || return 1
	[ -n "$report" ] && jq -e "$2" <<<"$report"
}

# calls_in FILE COUNT: there are as many calls in it, or more
calls_in()
{
	so_far "$1" "[.calls[].count] | add >= $2"
}

# windows_in FILE COUNT: as many windows have begun, or more
windows_in()
{
	so_far "$1" ".windows | length >= $2"
}
