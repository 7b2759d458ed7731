# SPDX-License-Identifier: BSD-3-Clause
# For tests of commands that end with a status; what they print is in the files out and err.

ends_setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR"
}

# ends STATUS COMMAND...
ends() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || {
		echo "status $got, not $want: $*"
		cat out err
		return 1
	}
}
