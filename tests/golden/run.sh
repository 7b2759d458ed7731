#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh [--update] [NAME...]
# Replays the captures in tests/data and compares with what they gave before: NAME is NAME.ucxb or
# NAME.HOST.ucxb..., its report NAME.json. --update writes the reports anew; read the difference
# before it is committed. Needs no privileges and none of the programs that were traced.
# environment: UCXBPF (build/ucxbpf), DATA (tests/data)
top=$(cd "$(dirname "$0")/../.." && pwd)
ucxbpf=${UCXBPF:-$top/build/ucxbpf}
data=${DATA:-$top/tests/data}
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
update=
failed=0

fail() {
	echo "not ok: $name: $*"
	failed=1
}

# Status 4 is a capture that was cut short on purpose: its report is golden, too.
replay() {
	"$ucxbpf" replay "$@" 2>>"$work/stderr"
	case $? in
	0 | 4) ;;
	*) return 1 ;;
	esac
}

check() {
	local files=() reversed=() f

	for f in "$data/$name.ucxb" "$data/$name".*.ucxb; do
		[ -f "$f" ] && files+=("$f") && reversed=("$f" "${reversed[@]}")
	done
	[ ${#files[@]} -gt 0 ] || { fail "no capture" && return; }
	: >"$work/stderr"
	replay --json "${files[@]}" >"$work/json" ||
		{ fail "replay: $(head -1 "$work/stderr")" && return; }
	replay --json "${reversed[@]}" | cmp -s - "$work/json" ||
		{ fail "a second replay gives other bytes" && return; }
	jq -r -f "$top/tests/golden/schema.jq" "$work/json" >"$work/breaches" ||
		{ fail "not JSON" && return; }
	[ ! -s "$work/breaches" ] || { fail "schema: $(head -3 "$work/breaches")" && return; }
	replay "${files[@]}" >"$work/text"
	replay "${files[@]}" | cmp -s - "$work/text" ||
		{ fail "the text report is not the same twice" && return; }
	[ -z "$update" ] || cp "$work/json" "$data/$name.json"
	diff -u "$data/$name.json" "$work/json" >"$work/diff" ||
		{ fail "differs from $name.json" && head -40 "$work/diff" && return; }
	echo "ok: $name"
}

[ "$1" = --update ] && update=yes && shift
if [ $# -eq 0 ]; then
	for f in "$data"/*.ucxb; do
		[ -f "$f" ] && f=${f##*/} && echo "${f%%.*}"
	done | sort -u >"$work/names"
	mapfile -t names <"$work/names"
	set -- "${names[@]}"
fi
for name; do
	check
done
exit $failed
