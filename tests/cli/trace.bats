#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of run and attach are refused while they are parsed, before the kernel is touched: as any user, status 2.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

@test "bad values and options that exclude each other" {
	local line options
	while IFS='|' read -r options line; do
		for command in "attach -p 1 $options" "run $options -- true"; do
			run "$UCXBPF" $command
			echo "$command: $status $output"
			[ "$status" = 2 ]
			[[ ${lines[0]} == *"$line" ]]
		done
	done <<-'END'
		--level all|unknown level 'all', use mpi, ucp or uct
		--links kprobe|unknown kind of links 'kprobe', use session, multi or perf
		--links none|unknown kind of links 'none', use session, multi or perf
		--ring-size 100|ring size must be a power of two from 64 to 1048576 KiB
		--ring-size 32|ring size must be a power of two from 64 to 1048576 KiB
		--ring-size x|'x' is not a size in KiB
		--count --call-ends|--count and --call-ends cannot be combined
		--count --stacks|--count and --stacks cannot be combined
		--count --thin 1/8|--count and --thin cannot be combined
		--count --window 1s/30s|--count and --window cannot be combined
		--count --budget 3%|--count and --budget cannot be combined
	END
}
