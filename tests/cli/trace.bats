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

@test "which processes, for how long: bad words are refused in one line" {
	local options line
	while IFS='|' read -r options line; do
		for command in attach pending; do
			eval "run \"$UCXBPF\" $command $options"
			echo "$command $options: $status $output"
			[ "$status" = 2 ]
			[ "${#lines[@]}" = 1 ]
			[ "$output" = "ucxbpf $command: $line" ]
		done
	done <<-'END'
		4242x|'4242x' is not a process id
		0|'0' is not a process id
		12,,13|'' is not a process id
		-p 12,x|'x' is not a process id
		12 --all|give one of PID, --job ID and --all
		-p 12 --job 3|give one of PID, --job ID and --all
		-d 5s|give one of PID, --job ID and --all
		--job ''|'' is not the id of a job
		-d 5x 12|'5x' is not a duration such as 5s, 500ms or 2m
		-d 0 12|'0' is not a duration such as 5s, 500ms or 2m
		-d 0ms 12|'0ms' is not a duration such as 5s, 500ms or 2m
		-d '' 12|'' is not a duration such as 5s, 500ms or 2m
		-d '5 s' 12|'5 s' is not a duration such as 5s, 500ms or 2m
		-d nan 12|'nan' is not a duration such as 5s, 500ms or 2m
	END
}

@test "a sweep's durations have units; bad ones are refused" {
	for option in --answer --limit; do
		for value in 5x 0 '' 99999h; do
			run "$UCXBPF" sweep run "$option=$value" -o "$BATS_TEST_TMPDIR/sweep"
			[ "$status" = 4 ]
			[ "${lines[0]}" = "ucxbpf sweep: '$value' is not a duration such as 30s, 500ms or 2m" ]
		done
		"$UCXBPF" sweep run "$option=2m" -w n0 --launcher hosts --mpirun mpirun -o "$BATS_TEST_TMPDIR/sweep" --dry-run
	done
}

@test "all nodes of a job: options that make no sense are refused in one line, before a folder is made" {
	local options wanted line
	cd "$BATS_TEST_TMPDIR"
	mkdir full
	touch full/file plain
	mkdir -m 777 shared
	printf 'n0\nn1 or n2\nn[\n' >hosts
	: >nobody
	while IFS='|' read -r options wanted line; do
		eval "run env -u SLURM_JOB_ID PATH=/none $options"
		echo "$options: $status $output"
		[ "$status" = "$wanted" ]
		[ "${#lines[@]}" = 1 ]
		[[ $output == $line ]]
	done <<-END
		"$UCXBPF" attach --all-nodes 12|2|ucxbpf attach: --all-nodes goes with --job ID, or with --all and --hosts
		"$UCXBPF" attach --all-nodes|2|ucxbpf attach: give one of PID, --job ID and --all
		"$UCXBPF" attach --job 1 --hosts hosts|2|ucxbpf attach: --hosts goes with --all-nodes
		"$UCXBPF" attach --job 1 -w n0|2|ucxbpf attach: --nodelist goes with --all-nodes
		"$UCXBPF" attach --job 1 --rsh ssh|2|ucxbpf attach: --rsh goes with --all-nodes
		"$UCXBPF" attach --job 1 --ready x|2|ucxbpf attach: --ready requires -p or --all-nodes
		"$UCXBPF" attach --job 1 --all-nodes --launcher x|2|ucxbpf attach: unknown launcher 'x', use slurm or hosts
		"$UCXBPF" attach --job 1 --all-nodes --answer x|2|ucxbpf attach: 'x' is not a duration such as 30s, 500ms or 2m
		"$UCXBPF" attach --job 1 --all-nodes --answer 0|2|ucxbpf attach: '0' is not a duration such as 30s, 500ms or 2m
		"$UCXBPF" attach --job 1 --all-nodes --rsh ' '|2|ucxbpf attach: --rsh names no command
		"$UCXBPF" attach --job 1 --all-nodes --ucxbpf ''|2|ucxbpf attach: --ucxbpf names no command
		"$UCXBPF" attach --job 1 --all-nodes -w n0 --hosts hosts|2|ucxbpf attach: give one of --nodelist and --hosts
		"$UCXBPF" attach --job 1 --all-nodes --hosts hosts|2|ucxbpf: error: hosts: 'n\\[' is no node
		"$UCXBPF" attach --job 1 --all-nodes --hosts nobody|2|ucxbpf: error: on which nodes? *
		"$UCXBPF" attach --job 1 --all-nodes --hosts nowhere|2|ucxbpf: error: nowhere: no such file
		"$UCXBPF" attach --job 1 --all-nodes -w 'n[' --rsh x|2|ucxbpf: error: 'n\\[' is no list of nodes such as *
		"$UCXBPF" attach --all --all-nodes|2|ucxbpf: error: on which nodes? Name them by -w or --hosts, or type this in the job
		"$UCXBPF" attach --all --all-nodes --launcher slurm -w n0|2|ucxbpf: error: --launcher slurm goes with --job, whose nodes it reaches
		"$UCXBPF" attach --job 1 --all-nodes|7|ucxbpf: error: Slurm does not know job 1 (*); without Slurm: --launcher hosts
		"$UCXBPF" attach --job 1 --all-nodes -w n0 --rsh x -o full|2|ucxbpf: error: full: holds files already, name a new folder with -o
		"$UCXBPF" attach --job 1 --all-nodes -w n0 --rsh x -o shared|1|ucxbpf: error: shared: other users may write there, name a new folder with -o
		"$UCXBPF" attach --job 1 --all-nodes -w ../n0 --rsh x|2|ucxbpf: error: '../n0' is no list of nodes such as *
		"$UCXBPF" attach --job 1 --all-nodes --nodelist=-x --rsh x|2|ucxbpf: error: '-x' is no list of nodes such as *
		"$UCXBPF" attach --job 1 --all-nodes -w n0 --rsh x -o plain|2|ucxbpf: error: plain: is no folder, name a new one with -o
		"$UCXBPF" attach --job 1 --all-nodes -w n0 --rsh x -o no/folder|1|ucxbpf: error: no/folder: cannot be created, its directory does not exist
		"$UCXBPF" attach --job 1 --all-nodes -w n0 --rsh x --ready no/file|1|ucxbpf: error: no/file: No such file or directory
		LSB_JOBID=1 LSB_MCPU_HOSTS=n0 "$UCXBPF" attach --job 1 --all-nodes|2|ucxbpf: error: 'n0' is no list of hosts with their slots such as n0 4 n1 4
		PBS_JOBID=1.s PBS_NODEFILE=nowhere "$UCXBPF" attach --job 1 --all-nodes|2|ucxbpf: error: nowhere: no such file
	END
	[ "$(echo *)" = "full hosts nobody plain shared" ]
}

@test "a host that cannot be reached is named; the folder of the job has its name" {
	cd "$BATS_TEST_TMPDIR"
	run "$UCXBPF" attach --job 1 --all-nodes -w 'n[0-1]' --rsh /nowhere/ssh
	echo "$output"
	[ "$status" = 1 ]
	[ "${lines[0]}" = "ucxbpf: warning: n0: not traced: cannot run '/nowhere/ssh': No such file or directory" ]
	[ "${lines[2]}" = "ucxbpf: error: no node was traced" ]
	[[ $(echo *) == ucxbpf.1.*T* ]]
}
