# SPDX-License-Identifier: BSD-3-Clause
# UCX 1.18.1 with protocol v2 as its default, Open MPI 5 and MPICH 4.2: Debian 13's own packages in a
# root of their own, traced from outside it.

load ../lib/live.bash
load ../lib/soon.bash

ROOT=$BUILD/debian13
ENTER="$TOP/tests/lib/debian13 enter $ROOT"
PROGRAMS="mpi_send mpi_isend mpi_sizes mpi_coll mpi_wild mpi_f08 mpi_four"
HANGS=mpi_stuck
FORTRAN="-cpp -O1 -g -fno-inline -fno-optimize-sibling-calls -ffree-line-length-none" # as in the Makefile

setup_file()
{
	command -v mmdebstrap >/dev/null || return 0
	"$TOP/tests/lib/debian13" make "$ROOT" >"$BUILD/debian13.log" 2>&1 || return 0
	mkdir -p "$ROOT/progs/openmpi" "$ROOT/progs/mpich"
	cp "$TOP"/tests/progs/*.[ch] "$TOP"/tests/progs/*.f90 "$ROOT/progs"
	$ENTER sh -c "cd /progs && for mpi in openmpi mpich; do for p in $PROGRAMS $HANGS; do
		case \$p in
		mpi_f08) mpifort.\$mpi $FORTRAN -J \$mpi \$p.f90 -o \$p.\$mpi ;;
		*) mpicc.\$mpi -std=gnu11 -D_GNU_SOURCE -O2 \$p.c -o \$p.\$mpi -lm -pthread ;;
		esac || exit 1
	done; done"
	touch "$ROOT/built"
}

setup()
{
	command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
	[ -e "$ROOT/built" ] || skip "no Debian 13 root: $(tail -n 1 "$BUILD/debian13.log")"
	live_setup
}

# traced MPI UCX_TLS PROTO PROGRAM [ARGUMENT]
traced()
{
	local mpi=$1 tls=$2 proto=$3 program=$4 launcher="mpiexec.mpich"

	[ "$mpi" != openmpi ] || launcher="mpirun.openmpi --allow-run-as-root --bind-to none"
	CASE=$WORK/$program-$mpi-$proto
	mkdir -p "$CASE/truth"
	timeout -k 5 90 "$UCXBPF" run -q ${TRACE_OPTIONS:-} -o "$CASE/job.ucxb" -L "$ROOT/usr/lib/x86_64-linux-gnu" -- \
		env OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any \
		UCX_TLS="$tls" UCX_PROTO_ENABLE="$proto" UCX_LOG_LEVEL=warn TRUTH="$CASE/truth" \
		${JOB_EXTRA:-} $ENTER timeout -k 2 40 $launcher -n 2 "/progs/$program.$mpi" "${@:5}" </dev/null >"$CASE/out" 2>&1
	report
	jq -e '[.processes[].ucx[] | .version + " " + .layout] | unique == ["1.18.1 1.18.1-assert"]' \
		"$CASE/report.json"
}

all_programs()
{
	local program

	for program in $PROGRAMS; do
		traced "$1" "$2" "$3" "$program"
	done
}

@test "open mpi 5 over shm, protocol v2" { all_programs openmpi posix,self,cma y; }

@test "open mpi 5 over shm, protocol v1" { all_programs openmpi posix,self,cma n; }

@test "mpich 4.2 over shm, protocol v2" { all_programs mpich posix,self,cma y; }

@test "open mpi 5 over tcp on loopback, protocol v2" { all_programs openmpi tcp,self y; }

# One that is there before its receive is done within the function that receives it.
@test "open mpi 5: messages of no bytes by rendezvous, protocol v2" {
	local program

	for program in mpi_send mpi_isend; do
		JOB_EXTRA=UCX_RNDV_THRESH=0 traced openmpi posix,self,cma y $program
		jq -e '[.ops[] | select(.op == "tag_send" and .bytes == 0) | .protocol] | unique == ["rndv/get"]' "$CASE/report.json"
	done
}

# Open MPI sends each partition by itself, and four messages of 11 bytes for each pair of requests.
@test "open mpi 5: partitions, and agreement after failures" {
	traced openmpi posix,self,cma y mpi_four
	jq -e '[.messages[] | select(.function | test("^MPI_(Startall|Pready|Pready_range|Pready_list|Parrived|Waitall)$"))] |
		group_by(.src) | map([(map(.count) | add), (map(.bytes) | add)]) ==
		[range(2) | [11 * 2 * 4 + 8, 11 * 4 * (1009 + 200003) + 88]]' "$CASE/report.json"
	jq -e '[.calls[] | select(.function | startswith("MPIX_")) | "\(.function) \(.count)"] | unique ==
		["MPIX_Comm_agree 1", "MPIX_Comm_revoke 1", "MPIX_Comm_shrink 1"]' "$CASE/report.json"
}

# That of Open MPI 5 has none over UCX: "The PML being used - ucx - does not support MPI sessions related features".
@test "mpich 4.2: sessions" {
	traced mpich posix,self,cma y mpi_four sessions
	jq -e '[.calls[] | select(.function | test("Session|Init$|from_group")) | "\(.function) \(.count)"] | unique == [
		"MPI_Comm_create_from_group 1", "MPI_Session_finalize 1", "MPI_Session_init 1"]' "$CASE/report.json"
}

# emulation UCX_TLS PROTO PATH-13: "OPERATION PROTOCOL" of what is emulated of ucx_perftest's puts, gets and atomics, whose
# counts are those of a preloaded library. Its pair is started by MPI, which does not go over UCX itself.
emulation()
{
	export WITNESS=$WORK/witness

	rm -rf "$WITNESS"
	mkdir "$WITNESS"
	cp "$BUILD/tests/progs/lib/lib_ucp_count.so" "$WORK"
	cat >"$WORK/script" <<-'EOT'
		pair()
		{
			timeout -k 1 25 mpirun.openmpi --allow-run-as-root --bind-to none -n 2 env LD_PRELOAD="$COUNTING" \
				ucx_perftest -t $1 -s $2 -n 60 -w 5 >/dev/null 2>&1 || echo "failed: $1 $2"
		}
		for test in ucp_get ucp_put_bw; do
			pair $test 8
			pair $test 100000
		done
		for test in ucp_add ucp_fadd ucp_cswap; do
			pair $test 8
		done
	EOT
	timeout -k 5 90 "$UCXBPF" run -q -o "$WORK/$2.$3.ucxb" -L "$ROOT/usr/lib/x86_64-linux-gnu" -- \
		env OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx OMPI_MCA_btl=self,sm COUNTING="$WORK/lib_ucp_count.so" UCX_TLS="$1" \
		UCX_NET_DEVICES=all UCX_PROTO_ENABLE="$2" UCX_LOG_LEVEL=fatal \
		$ENTER timeout -k 2 80 bash "$WORK/script" >"$WORK/out" 2>&1
	cat "$WORK/out"
	! grep failed "$WORK/out" || false
	as_witnessed "$WORK/$2.$3.ucxb" "$3"
	jq -r '[.transfers[] | select(.data_path == "emulated") | "\(.ucp_op) \(.protocol) \(.initiator)"] | unique[]' \
		"$WORK/report.json" >"$WORK/emulated"
	cat "$WORK/emulated"
}

# Protocol v2 puts over tcp by itself, which 1.13.1 emulates as v1 does.
@test "what ucx 1.18.1 emulates" {
	emulation tcp,self n fail
	printf '%s\n' "atomic amo/am "{origin,target} "get get/am target" "put put/am/bcopy origin" | diff - "$WORK/emulated"
	emulation tcp,self y fail
	printf '%s\n' "atomic amo/am target" "atomic amo/"{fetch,post}"/sw origin" "get get/am target" | diff - "$WORK/emulated"
	[ "$(jq -r '[.transfers[] | select(.ucp_op == "put" and .kind == "data") | .protocol] | unique[]' "$WORK/report.json" |
		grep -v '^put/offload/')" = "" ]
	jq -e 'any(.transfers[]; .protocol == "put/offload/zcopy")' "$WORK/report.json"
	for proto in n y; do
		emulation posix,self,cma $proto pass
		[ ! -s "$WORK/emulated" ]
	done
}

# behind MPI CASE: "RANKS STATE" as `pending` has it, and what is queued, of two ranks that hung before
behind()
{
	local mpi=$1 launcher="mpiexec.mpich" job pids

	[ "$mpi" != openmpi ] || launcher="mpirun.openmpi --allow-run-as-root --bind-to none"
	CASE=$WORK/stuck-$mpi-$2
	mkdir -p "$CASE/truth"
	env OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any UCX_TLS=posix,self,cma \
		UCX_LOG_LEVEL=warn TRUTH="$CASE/truth" $ENTER timeout -k 2 60 $launcher -n 2 "/progs/mpi_stuck.$mpi" "$2" \
		</dev/null >"$CASE/out" 2>&1 3>&- &
	job=$!
	soon test -s "$CASE/truth/0.pid"
	soon test -s "$CASE/truth/1.pid"
	pids=$(cat "$CASE/truth/0.pid"),$(cat "$CASE/truth/1.pid")
	sleep 1
	"$UCXBPF" pending --json -p "$pids" >"$CASE/pending"
	kill -KILL ${pids/,/ }
	wait "$job" || true
	jq -r '(.behind[] | "\(.ranks | map(tostring) | join(",")) \(.state)"),
		(.queued | sort_by(.what, .rank)[] | "\(.what) \(.rank) \(.peer_rank) \(.tag)")' "$CASE/pending"
}

# is_behind MPI CASE EXPECTED; on a busy machine a look may not find a thread, says so, and the next one finds it
is_behind()
{
	local attempt seen

	for attempt in 1 2 3; do
		seen=$(behind "$1" "$2")
		[ "$seen" != "$3" ] || return 0
		echo "$1 $2: $seen"
	done
	return 1
}

@test "jobs that hung before, with ucx 1.18.1" {
	local mpi

	for mpi in openmpi mpich; do
		is_behind $mpi never $'1 sleeping\nreceive 0 1 7'
		is_behind $mpi send $'1 sleeping\nsend 0 1 9'
		is_behind $mpi sends $'0,1 null\nmessage 0 1 9\nmessage 1 0 9\nsend 0 1 9\nsend 1 0 9'
	done
}
