# SPDX-License-Identifier: BSD-3-Clause
# Captures from machines with GPUs (scripts/gpu-check), replayed: every case in tests/data/gpu has
# the memory and the devices that its program wrote down.

TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
UCXBPF=${UCXBPF:-${BUILD:-$TOP/build}/ucxbpf}

setup() { [ -x "$UCXBPF" ] || skip "ucxbpf is not built"; }

# one CASE'S FOLDER: its differences
one()
{
	local options=()

	mapfile -t options < <(jq -r '(if .late then "--late" else "--balanced" end),
		(.way // empty | "--way=\(.)")' "$1/case.json")

	"$UCXBPF" replay --json "$1/job.ucxb" >"$BATS_TEST_TMPDIR/report" || return 1
	jq -r -f "$TOP/tests/golden/schema.jq" "$BATS_TEST_TMPDIR/report" >"$BATS_TEST_TMPDIR/breaches"
	cat "$BATS_TEST_TMPDIR/breaches"
	[ ! -s "$BATS_TEST_TMPDIR/breaches" ] || return 1
	/usr/bin/python3 "$TOP/tests/gpu/compare.py" "$BATS_TEST_TMPDIR/report" "$1/truth" \
		"${options[@]}"
}

@test "whose memory each message of a GPU job was of" {
	local folder failed=0 cases=0

	for folder in "$TOP"/tests/data/gpu/*/; do
		cases=$((cases + 1))
		one "$folder" >"$BATS_TEST_TMPDIR/out" 2>&1 || {
			echo "${folder#"$TOP"/}:" && head -n 5 "$BATS_TEST_TMPDIR/out"
			failed=$((failed + 1))
		}
	done
	echo "$failed of $cases cases failed"
	[ "$cases" -gt 0 ] && [ "$failed" = 0 ]
}

@test "comparing a report with a GPU program's ledger finds what is wrong" { "$TOP/tests/gpu/selftest"; }
