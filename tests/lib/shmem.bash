# SPDX-License-Identifier: BSD-3-Clause
# For tests of OpenSHMEM: a report against the ledgers of shmem_calls.

# shmem_as_ledger REPORT LEDGERS FOLDER: the report has what the ledgers have of the functions that they name; files in
# between are in FOLDER. Collectives and locks make operations that no ledger knows; every put, get and atomic is in
# some call.
shmem_as_ledger()
{
	local report=$1 ledgers=$2 work=$3 part

	jq -e '([.loss.dropped[]] | add // 0) == 0' "$report"
	jq -c '[.[].calls[]] | group_by(.name)[] | [.[0].name, (map(.count) | add)]' "$ledgers" >"$work/true.calls"
	jq -c --slurpfile true "$work/true.calls" '($true | map(.[0])) as $named |
		[.calls[] | select(.function != "shmem_finalize")] | group_by(.function)[] |
		[.[0].function, (map(.count) | add)]' "$report" >"$work/seen.calls"
	jq -c '[.[].messages[]] | group_by(.name)[] | [.[0].name, (map(.count) | add), (map(.bytes) | add)]' \
		"$ledgers" >"$work/true.ops"
	jq -c --slurpfile true "$work/true.ops" --slurpfile calls "$work/true.calls" \
		'(($calls | map(.[0])) - ($true | map(.[0]))) as $others |
		[.ops[] | select(.op | IN("put", "get", "atomic")) | select(.function | IN($others[]) | not)] |
		group_by(.function)[] | [.[0].function, (map(.count) | add), (map(.bytes) | add)]' \
		"$report" >"$work/seen.ops"
	for part in calls ops; do
		[ "$(wc -l <"$work/true.$part")" -gt 30 ] || return
		diff "$work/true.$part" "$work/seen.$part" || return
	done
}
