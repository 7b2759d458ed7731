#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of run and attach are refused while they are parsed, before the kernel is touched: as any user, status 2
# and one line.

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
			[ "${#lines[@]}" = 1 ]
			[ "$output" = "ucxbpf ${command%% *}: $line" ]
		done
	done <<-'END'
		--level all|unknown level 'all', use mpi, ucp or uct
		--links kprobe|unknown kind of links 'kprobe', use session, multi or perf
		--links none|unknown kind of links 'none', use session, multi or perf
		--ring-size 100|ring size must be a power of two from 64 to 1048576 KiB
		--ring-size 32|ring size must be a power of two from 64 to 1048576 KiB
		--ring-size x|'x' is not a size in KiB
		--count --call-ends|--count and --call-ends cannot be combined
		--call-ends --no-call-ends|--call-ends and --no-call-ends cannot be combined
		--count --stacks|--count and --stacks cannot be combined
		--count --thin 1/8|--count and --thin cannot be combined
		--count --window 1s/30s|--count and --window cannot be combined
		--count --budget 3%|--count and --budget cannot be combined
		--level mpi --budget 3%|--level and --budget cannot be combined
		--budget 3% --window 1s/30s|--window and --budget cannot be combined
		--budget 0|--budget: '0' is out of range, use 0.01% to 99%, or none
		--budget 200%|--budget: '200%' is out of range, use 0.01% to 99%, or none
		--budget 3%%|--budget: invalid share '3%%', use one of each thread's time (3%), or none
		-o a.%x|unknown placeholder in 'a.%x', use %h, %p, %r, %j, %s, %t or %%
		-o a%|unknown placeholder in 'a%', use %h, %p, %r, %j, %s, %t or %%
		--budget nan|--budget: invalid share 'nan', use one of each thread's time (3%), or none
	END
}

@test "a launcher whose ranks are not below it is refused, with what to type" {
	local launcher
	for launcher in srun /usr/bin/srun prun aprun jsrun; do
		run "$UCXBPF" run -o "$BATS_TEST_TMPDIR/a" -- "$launcher" -n 2 ./app
		echo "$status $output"
		[ "$status" = 2 ]
		[ "$output" = "ucxbpf run: the ranks of ${launcher##*/} do not run below it: type ${launcher##*/} ... ucxbpf\
 run -o job.%h.%p.ucxb -- PROGRAM, or ucxbpf attach --job ID" ]
	done
	for launcher in sbatch qsub bsub; do
		run "$UCXBPF" run -o "$BATS_TEST_TMPDIR/a" -- "$launcher" job.sh
		[ "$status" = 2 ]
		[ "$output" = "ucxbpf run: the processes of $launcher do not run below it: type 'ucxbpf run' in the script" ]
	done
	[ ! -e "$BATS_TEST_TMPDIR/a" ]
}

@test "a budget of the site that makes no sense is refused by its name" {
	UCXBPF_BUDGET=200% run "$UCXBPF" attach -p 1
	echo "$status $output"
	[ "$status" = 2 ]
	[ "$output" = "ucxbpf attach: UCXBPF_BUDGET: '200%' is out of range, use 0.01% to 99%, or none" ]
}

# What monitoring systems take for critical is 2 (docs/exit-codes.md).
@test "a sweep refuses a budget that makes no sense, by its status of usage" {
	run "$UCXBPF" sweep run --budget 0 -o "$BATS_TEST_TMPDIR/sweep" a b
	echo "$status $output"
	[ "$status" = 4 ]
	[ "$output" = "ucxbpf sweep: --budget: '0' is out of range, use 0.01% to 99%, or none" ]
	[ ! -e "$BATS_TEST_TMPDIR/sweep" ]
}
