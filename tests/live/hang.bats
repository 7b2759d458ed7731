# SPDX-License-Identifier: BSD-3-Clause
# Jobs that hung before anybody traced them: `pending` and an attach name who waits, for whom, and who is behind.
#
#   PENDING_TRIES  how often `pending` is asked about each of six hangs of both MPIs, once per job (none)

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	JOB_PID=
}

teardown()
{
	end_job
}

# hung RANKS MPI CASE: starts a job that hangs; PIDS are its ranks in their order, RANK_PIDS a list of them
hung()
{
	local i

	CASE=$(mktemp -d "$WORK/XXXXXX")
	TRUTH=$CASE job_command "$2" "$1" "${TRANSPORT:-shm}" "${PROTO:-n}" "$PROGS/$2/mpi_stuck" "$3"
	"${JOB[@]}" >"$CASE/out" 2>&1 3>&- &
	JOB_PID=$!
	RANK_PIDS=()
	for ((i = 0; i < $1; i++)); do
		soon test -s "$CASE/$i.pid"
		RANK_PIDS+=("$(cat "$CASE/$i.pid")")
	done
	PIDS=$(IFS=, && echo "${RANK_PIDS[*]}")
	# the barrier before the hang takes milliseconds
	sleep 1
}

end_job()
{
	[ -n "$JOB_PID" ] || return 0
	kill -KILL "${RANK_PIDS[@]}" 2>/dev/null || true
	wait "$JOB_PID" || true
	JOB_PID=
}

# looked_at true|false: looks at the job in both ways, and leaves "pending" and "report" as JSON in $CASE. A look may not
# find a thread that runs, or not the frames of its stack: its rank is then "perhaps" behind, and the next look finds it.
# With "false", who is behind cannot be certain.
looked_at()
{
	local attempt behind=.behind

	[ "$1" = true ] || behind=empty
	for attempt in 1 2 3; do
		look_both_ways
		if jq -es "all(.[]; (.open | length > 0) and all((.open, $behind)[]; .certain))" \
			"$CASE/pending" "$CASE/report" >/dev/null; then
			return 0
		fi
	done
}

# looked_once: by "pending" alone, until it finds where each of four ranks is; its capture's "report" is beside it.
looked_once()
{
	local attempt

	for attempt in 1 2 3; do
		rm -f "$CASE/job.ucxb"
		"$UCXBPF" pending --json -p "$PIDS" -o "$CASE/job.ucxb" >"$CASE/pending"
		! jq -e '[.threads[] | select(.function or .outside)] | length == 4' "$CASE/pending" >/dev/null || break
	done
	/usr/bin/python3 "$TOP/tests/live/check_pending.py" "$TOP/docs/pending.schema.json" "$CASE/pending"
	"$UCXBPF" replay --json "$CASE/job.ucxb" >"$CASE/report"
}

look_both_ways()
{
	"$UCXBPF" pending --json -p "$PIDS" >"$CASE/pending"
	/usr/bin/python3 "$TOP/tests/live/check_pending.py" "$TOP/docs/pending.schema.json" "$CASE/pending"
	env -u UCXBPF_BUDGET "$UCXBPF" attach -q -o "$CASE/job.ucxb" -d 2 -p "$PIDS"
	"$UCXBPF" replay --json "$CASE/job.ucxb" >"$CASE/report"
}

# opened FILE: "RANK FUNCTION PEER TAG BOUND CERTAIN" of each open call, in order of ranks
opened()
{
	jq -r '.open | sort_by(.rank)[] | "\(.rank) \(.function) \(.peer_rank) \(.tag) \(.bound) \(.certain)"' "$CASE/$1"
}

# behind FILE: "RANKS WAITING NOT_ENTERED STATE FUNCTION CERTAIN"
behind()
{
	jq -r '.behind[] | "\(.ranks | map(tostring) | join(",")) \(.waiting) \(.not_entered) \(.state) \(.function) \(.certain)"' \
		"$CASE/$1"
}

# both FUNCTION EXPECTED: of `pending` and of the attach
both()
{
	local file

	for file in pending report; do
		echo "$file: $("$1" $file)"
		[ "$("$1" $file)" = "$2" ]
	done
}

# steps FILE: "RANK STEP BYTES" of each open call, in order of ranks
steps()
{
	jq -r '.open | sort_by(.rank)[] | "\(.rank) \(.step) \(.bytes)"' "$CASE/$1"
}

# Open MPI has the request of a blocking call on the call's stack, MPICH among all others: there the peer is "perhaps" that.
own()
{
	[ "$1" = openmpi ] && echo true || echo false
}

# lasted FILE SECONDS: calls were seen that long, and began before
lasted()
{
	jq -e --argjson least "$2" '.open | length > 0 and all(.age_ns >= $least * 1e9 and .age_ns < ($least + 2) * 1e9)' \
		"$CASE/$1"
}

# judged VERDICT SUBJECT TEXT: whether COV-04 has this finding on the attach, which took 2 s
judged()
{
	printf 'spec: ucxbpf-policy-v1\nrules: { COV-04: { open: 1 } }\n' >"$CASE/site.yaml"
	"$UCXBPF" check -P "$CASE/site.yaml" -f json "$CASE/job.ucxb" >"$CASE/verdict" || true
	jq -r '.findings[] | select(.rule == "COV-04") | "\(.verdict) \(.subject) \(.why // .seen)"' "$CASE/verdict" \
		>"$CASE/findings"
	cat "$CASE/findings"
	grep -qE "^$1 [^ ]*:$2 $3, in MPI_[A-Z][a-z]+ for [23]\.[0-9] s and more, since before the trace$" "$CASE/findings"
}

# What is certain of Open MPI is "perhaps" so of MPICH: own()
verdict()
{
	[ "$1" = openmpi ] && echo fail || echo unknown
}

@test "pending runs ahead of ranks that poll on every CPU" {
	"$UCXBPF" pending --all -d 1s >"$WORK/out" 3>&- &
	soon eval '[ "$(ps -o ni= -p $! | tr -d " ")" = -20 ]'
	wait $!
}

each_mpi()
{
	local mpi

	for mpi in openmpi mpich; do
		"$1" $mpi
		end_job
	done
}

never()
{
	local perhaps

	hung 2 "$1" never
	looked_at "$(own "$1")"
	both opened "0 MPI_Recv 1 7 true true"
	both behind "1 1 null sleeping null $(own "$1")"
	jq -e --argjson own "$(own "$1")" '.open[0].peer_certain == $own and .unread == []' "$CASE/pending"
	perhaps=$([ "$1" = openmpi ] || echo "perhaps ")
	both steps "0 posted null"
	lasted pending 1
	lasted report 2
	"$UCXBPF" replay "$CASE/job.ucxb" >"$CASE/text"
	grep -qE "^1 rank waits: rank 0 in MPI_Recv for >=2\.[0-9]+ s \(began before the trace\), ${perhaps}from rank 1, tag 7" "$CASE/text"
	tr -s ' \n' ' ' <"$CASE/text" | grep -qF "tag 7 (no message yet), at mpi_stuck.c:"
	grep -qx "rank 1 is ${perhaps}behind: it is sleeping, outside of MPI; 1 rank waits for it" "$CASE/text"
	judged "$(verdict "$1")" rank1 "rank 1 is ${perhaps}behind: it is sleeping, outside of MPI; 1 rank waits for it"
	jq -e '.open[0].call_site | test("^mpi_stuck.c:[0-9]+$")' "$CASE/report"
	jq -e '.queued == [{process: 0, rank: 0, what: "receive", peer: 1, peer_rank: 1, tag: 7,
		communicator: "MPI_COMM_WORLD", context: 0, bytes: null}]' "$CASE/pending"
}

@test "a rank that never sends" {
	each_mpi never
}

skip_one()
{
	hung 4 "$1" skip
	looked_at true
	[ "$(opened report | cut -d " " -f 1,2,4-)" = $'0 MPI_Barrier null true true\n1 MPI_Barrier null true true
2 MPI_Barrier null true true' ]
	both behind "3 3 MPI_Barrier sleeping null true"
	jq -e '[.open[] | [.context, .sequence, .sequence_by, .sequence_reason]] | unique ==
		[[0, null, null, "a rank was not traced from its start"]]' "$CASE/pending"
	"$UCXBPF" replay "$CASE/job.ucxb" | tr '\n' ' ' |
		grep -q "rank 3 has not entered MPI_Barrier: it is sleeping, outside of MPI; 3 ranks wait for it"
	judged fail rank3 "rank 3 has not entered MPI_Barrier: it is sleeping, outside of MPI; 3 ranks wait for it"
}

@test "a collective that one rank leaves out" {
	each_mpi skip_one
}

# rank 3 is in MPI_Allreduce, the others in MPI_Barrier; no call has a number, as none was counted
other()
{
	hung 4 "$1" other
	looked_once
	both behind "0,1,2,3 0 null null null true"
	jq -e '.behind[0].apart == [3] and ([.open[] | [.communicator, .context, .sequence, .sequence_reason]] | unique) ==
		[["MPI_COMM_WORLD", 0, null, "a rank was not traced from its start"]]' "$CASE/pending"
	"$UCXBPF" replay "$CASE/job.ucxb" | tr '\n' ' ' |
		grep -q "wait for each other: rank 3 is in MPI_Allreduce, 3 others in MPI_Barrier"
}

@test "a rank in another collective" {
	each_mpi other
}

# Tags of collectives that do not block are numbers: all but the last rank wait for the third.
start()
{
	hung 4 "$1" start
	looked_once
	both behind "3 3 null sleeping null false"
	jq -e '[.open[] | [.function, .communicator, .context, .sequence, .sequence_by]] | length == 3 and
		unique == [["MPI_Wait", "MPI_COMM_WORLD", 0, 3, "tags"]]' "$CASE/pending"
	# top has it by the same facts: once is enough
	[ "$1" = mpich ] || "$UCXBPF" top -p "$PIDS" --once --json |
		jq -e '[.threads[] | select(.function) | [.context, .sequence, .sequence_by, .step]] | length == 3 and
			unique == [[0, 3, "tags", "posted"]]'
}

@test "a collective that does not block, and that one rank leaves out: its number" {
	each_mpi start
}

deadlock()
{
	hung 2 "$1" deadlock
	looked_at "$(own "$1")"
	both opened $'0 MPI_Recv 1 7 true true\n1 MPI_Recv 0 7 true true'
	both behind "0,1 0 null null null $(own "$1")"
	"$UCXBPF" replay "$CASE/job.ucxb" | grep -qxE "rank 0 and rank 1 (perhaps )?wait for each other"
	judged "$(verdict "$1")" rank0 "rank 0 and rank 1 (perhaps )?wait for each other"
}

@test "a deadlock of two" {
	each_mpi deadlock
}

stopped()
{
	hung 2 "$1" peer
	kill -STOP "${RANK_PIDS[1]}"
	soon grep -q "State:.T" "/proc/${RANK_PIDS[1]}/status"
	# what was sent before is received
	sleep 0.2
	looked_at "$(own "$1")"
	both opened "0 MPI_Recv 1 7 true true"
	both steps "0 posted null"
	[ "$(behind pending | cut -d " " -f 1-4,6)" = "1 1 null stopped $(own "$1")" ]
	[ "$(behind report | cut -d " " -f 1-4,6)" = "1 1 null stopped $(own "$1")" ]
	judged "$(verdict "$1")" rank1 "rank 1 is (perhaps )?behind: it is stopped, .*; 1 rank waits for it"
	# it goes on as if nothing had been
	kill -CONT "${RANK_PIDS[1]}"
	soon grep -qv "State:.T" "/proc/${RANK_PIDS[1]}/status"
}

@test "a peer that was stopped" {
	each_mpi stopped
}

# waits_at EXPECTED: as steps, by "pending", asked again where it did not find a thread that runs
waits_at()
{
	local attempt

	for attempt in 1 2 3; do
		"$UCXBPF" pending --json -p "$PIDS" -d 0.5 >"$CASE/pending"
		! jq -e 'any(.open[]; .certain)' "$CASE/pending" >/dev/null || break
	done
	steps pending
	[ "$(steps pending)" = "$1" ]
}

# In "flood" one sends 64 bytes for ever, and the other takes none: at some time UCX has no room.
@test "steps of short messages that find no room or no receive, with both generations of protocols" {
	PROTO=n hung 2 openmpi flood
	waits_at "0 queued 64"
	end_job
	PROTO=y hung 2 mpich flood
	waits_at "0 queued 64"
	end_job
	PROTO=y hung 2 mpich syncs
	waits_at $'0 unreceived 1\n1 unreceived 1'
}

# Neither end has posted anything that matching knows: requests of sends lie in UCX's pool or on the stack.
sends()
{
	local mpi=$1

	for PROTO in n y; do
		hung 2 "$mpi" send
		looked_at "$(own "$mpi")"
		both opened "0 MPI_Send 1 9 true true"
		both behind "1 1 null sleeping null $(own "$mpi")"
		jq -e '[.queued[] | select(.what == "send") | [.rank, .peer_rank, .tag, .bytes]] == [[0, 1, 9, 1048576]]' \
			"$CASE/pending"
		# rank 1 has not taken the message in: the queues of UCX do not tell that from an answer on its way
		jq -e '.open | length == 1 and all(.step == null and (.step_reason | startswith("its peer holds no such message")))' \
			"$CASE/pending"
		end_job
		hung 2 "$mpi" sends
		looked_at "$(own "$mpi")"
		both opened $'0 MPI_Send 1 9 true true\n1 MPI_Send 0 9 true true'
		both behind "0,1 0 null null null $(own "$mpi")"
		both steps $'0 unreceived 1048576\n1 unreceived 1048576'
		jq -e '[.queued[] | select(.what == "message") | [.rank, .peer_rank, .tag, .bytes]] | sort ==
			[[0, 1, 9, 1048576], [1, 0, 9, 1048576]]' "$CASE/pending"
		end_job
	done
}

@test "sends that nobody receives, with both generations of protocols" {
	each_mpi sends
}

# It may wait for any of several receives: the members in which they agree are named.
waitall()
{
	hung 2 "$1" waitall
	looked_at false
	both opened "0 MPI_Waitall 1 null true true"
	both behind "1 1 null sleeping null false"
}

@test "a wait for several receives of one rank" {
	each_mpi waitall
}

# Which ranks another communicator has is not known.
other_communicator()
{
	hung 3 "$1" reduce
	looked_at false
	[ "$(opened report | cut -d " " -f 1,2,3,6)" = $'0 MPI_Allreduce null true\n1 MPI_Allreduce null true' ]
	both behind "2 2 MPI_Allreduce sleeping null false"
}

@test "a collective of another communicator: who is perhaps behind" {
	each_mpi other_communicator
}

@test "a rank that is not traced is named" {
	hung 2 openmpi never
	"$UCXBPF" pending --json -p "${RANK_PIDS[0]}" >"$CASE/pending"
	[ "$(opened pending)" = "0 MPI_Recv 1 7 true true" ]
	jq -e '.behind | length == 1 and (.[0] | .ranks == [1] and .traced == false and .waiting == 1)' "$CASE/pending"
	"$UCXBPF" pending -p "${RANK_PIDS[0]}" | grep -qx "rank 1 is behind: it is not traced here; 1 rank waits for it"
}

@test "a job that goes on: no call stays open" {
	hung 2 openmpi peer
	"$UCXBPF" pending -p "$PIDS" >"$CASE/text"
	grep -qxE "No MPI call (stays|is known to stay) open\." "$CASE/text"
	"$UCXBPF" pending --json -p "$PIDS" | jq -e '(.open | all(.age_ns < 1e8)) and .behind == []'
}

@test "pending: --all, the launcher's pid, a capture that is kept, nothing left behind" {
	hung 2 mpich never
	TMPDIR=$CASE "$UCXBPF" pending --json --all -d 0.5 >"$CASE/pending"
	[ "$(opened pending)" = "0 MPI_Recv 1 7 true true" ]
	TMPDIR=$CASE "$UCXBPF" pending --json -p "$JOB_PID" -d 0.5 -o "$CASE/kept.ucxb" >"$CASE/pending" 2>"$CASE/told"
	[ "$(opened pending)" = "0 MPI_Recv 1 7 true true" ]
	"$UCXBPF" replay --json "$CASE/kept.ucxb" >"$CASE/report"
	[ "$(opened report)" = "0 MPI_Recv 1 7 true true" ]
	[ -z "$(find "$CASE" -name 'ucxbpf-pending-*')" ]
}

@test "check names a call that hung before the attach" {
	hung 2 openmpi never
	looked_at true
	"$UCXBPF" check -f json "$CASE/job.ucxb" >"$CASE/verdict" || true
	jq -e '[.findings[] | select(.rule == "COV-04" and .verdict == "unknown") | .why] |
		any(test("^in MPI_Recv since before the trace, with [^ ]*rank1, seen for 2[.][0-9] s: attach for at least 5 s$"))' \
		"$CASE/verdict"
	printf 'spec: ucxbpf-policy-v1\nrules: { COV-04: { open: 1 } }\n' >"$CASE/site.yaml"
	"$UCXBPF" check -P "$CASE/site.yaml" -f json "$CASE/job.ucxb" >"$CASE/verdict" || true
	jq -e '[.findings[] | select(.rule == "COV-04" and .verdict == "fail") | .seen] |
		any(test("^tag_recv in MPI_Recv, other end [^ ]*rank1: open for 2[.][0-9] s and more, since before the trace$"))' \
		"$CASE/verdict"
}

# asked MPI CASE RANKS EXPECTED: one `pending` of a new job; its line is "SECONDS right|unsure|wrong MPI CASE WHO REASON".
# Unsure: it names another one, says "perhaps", and for which thread it is not known whether it is in a call, or of which
# process what it waits for could not be read.
asked()
{
	local begin who reason answer=wrong

	hung "$3" "$1" "$2"
	[ "$2" != peer ] || { kill -STOP "${RANK_PIDS[1]}" && sleep 0.5; }
	begin=${EPOCHREALTIME/./}
	"$UCXBPF" pending --json -p "$PIDS" >"$CASE/pending"
	begin=$((${EPOCHREALTIME/./} - begin))
	who=$(jq -c '[.behind[].ranks]' "$CASE/pending")
	reason=$(jq -r '[(.threads, .unread)[].reason | values] | first // empty' "$CASE/pending")
	jq -e 'all(.behind[]; .certain | not)' "$CASE/pending" >/dev/null && [ -n "$reason" ] && answer=unsure
	[ "$who" != "$4" ] || answer=right
	printf '%d.%03d %s %s %s %s %s\n' $((begin / 1000000)) $((begin / 1000 % 1000)) \
		"$answer" "$1" "$2" "$who" "$reason" >>"$WORK/asked"
	[ $answer = right ] || jq -c '{behind, threads, open}' "$CASE/pending"
	end_job
}

@test "pending, asked once per job: the right rank each time" {
	local i mpi

	[ -n "${PENDING_TRIES-}" ] || skip "seconds each: PENDING_TRIES=N asks for it"
	for ((i = 0; i < PENDING_TRIES; i++)); do
		for mpi in openmpi mpich; do
			asked $mpi never 2 "[[1]]"
			asked $mpi skip 4 "[[3]]"
			asked $mpi deadlock 2 "[[0,1]]"
			asked $mpi peer 2 "[[1]]"
			asked $mpi other 4 "[[0,1,2,3]]"
			asked $mpi start 4 "[[3]]"
		done
	done
	sort -n "$WORK/asked" | awk '{ s[NR] = $1; right += $2 == "right"; unsure += $2 == "unsure" } END {
		printf "# %d of %d right, %d unsure, median %s s, longest %s s\n", right, NR, unsure, s[int((NR + 1) / 2)], s[NR] }' >&3
	cat "$WORK/asked"
	! grep wrong "$WORK/asked" || false
}
