# SPDX-License-Identifier: BSD-3-Clause
# Rings that overflow, a tracer that stands still, a disk that is full: each record is stored or counted.

load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	exec 4>&-
	[ -z "${FLOOD_PID:-}" ] || pkill -P "$FLOOD_PID" || true
	[ -z "${FLOOD_PID:-}" ] || wait "$FLOOD_PID" || true
	mountpoint -q "$WORK/small" && umount "$WORK/small"
	true
}

# producers SECONDS RATE CPU...: a process for each, which will make so many records a second; sets PIDS
producers()
{
	mkfifo "$WORK/go"
	"$BUILD/tests/bench/job/flood" "$BUILD/tests/bench/job/libflood.so" "$@" <"$WORK/go" >"$WORK/flood" 3>&- &
	FLOOD_PID=$!
	exec 4>"$WORK/go"
	soon eval '[ "$(grep -c pid "$WORK/flood")" = '$(($# - 2))' ]'
	PIDS=$(awk '/pid/ { print $2 }' "$WORK/flood" | paste -sd,)
}

# flood SECONDS: a process per CPU of the first two, which will do nothing but make records
flood()
{
	producers "$1" 0 0 $((NPROC > 1))
}

# attach FILE OPTIONS...: sets TRACER
attach()
{
	local file=$1
	shift

	"$UCXBPF" attach -q -o "$file" -p "$PIDS" "$@" >"$WORK/attach.out" 2>"$WORK/attach.err" 3>&- 4>&- &
	TRACER=$!
	soon test -s "$file"
	exec 4>&-
}

# loss FILE: sets PRODUCED, STORED, DROPPED
loss()
{
	"$UCXBPF" replay --json "$1" >"$WORK/report.json" || [ $? = 4 ]
	read -r PRODUCED STORED DROPPED < <(
		jq -r '.loss | "\(.produced) \(.stored) \([.dropped[]] | add // 0)"' "$WORK/report.json")
	echo "produced $PRODUCED, stored $STORED, dropped $DROPPED"
	[ "$PRODUCED" = $((STORED + DROPPED)) ]
}

# leave: ends the tracer
leave()
{
	kill -TERM "$TRACER"
	status=0
	wait "$TRACER" || status=$?
	[ "$status" = 0 ]
}

# leave_flood: while records are made, which it must come to the end of
leave_flood()
{
	leave
	kill -0 "$FLOOD_PID"
}

NPROC=$(nproc)

@test "rings that are too small, and a tracer that is stopped: what is lost is counted" {
	flood 60
	attach "$WORK/a.ucxb" --ring-size 64
	soon calls_in "$WORK/a.ucxb" 100000
	kill -STOP "$TRACER"
	sleep 0.5
	kill -CONT "$TRACER"
	leave_flood
	loss "$WORK/a.ucxb"
	[ "$DROPPED" -gt 0 ]
	jq -e '.self.consumer | .grown == 0 and .ring_bytes == 65536 * .rings and .records == $stored' \
		--argjson stored "$STORED" "$WORK/report.json"
}

@test "a tracer that was stopped gets larger rings, as far as is planned" {
	flood 60
	attach "$WORK/a.ucxb"
	soon calls_in "$WORK/a.ucxb" 100000
	kill -STOP "$TRACER"
	sleep 0.5
	kill -CONT "$TRACER"
	soon calls_in "$WORK/a.ucxb" 500000
	leave_flood
	loss "$WORK/a.ucxb"
	jq -e '.self.consumer | .grown > 0 and .records == $stored' --argjson stored "$STORED" "$WORK/report.json"
}

# computed TICKS: each producer has computed for so long, which it does between two batches of calls
computed()
{
	awk -v least="$1" '{ few += $14 < least } END { exit few > 0 }' $(sed 's|[0-9]*|/proc/&/stat|g; s/,/ /g' <<<"$PIDS")
}

@test "what 100 processes have kept back, over 64 KiB, leaves through a ring of 64 KiB" {
	producers 600 0.05 $(yes "0 $((NPROC > 1))" | head -n 50)
	attach "$WORK/a.ucxb" --ring-size 64 --thin 1/1
	soon computed 2
	leave_flood
	loss "$WORK/a.ucxb"
	[ "$PRODUCED" -ge 1600 ]
	[ "$DROPPED" = 0 ]
	jq -e '[.calls[].count] | add == 1600' "$WORK/report.json"
}

# small KIB: $WORK/small is a disk of so much
small()
{
	mkdir "$WORK/small"
	mount -t tmpfs -o "size=$1k" none "$WORK/small" || skip "no tmpfs here"
}

@test "on a disk that is nearly full calls are added up, and all are there" {
	small 512
	flood 4
	attach "$WORK/small/a.ucxb"
	wait "$FLOOD_PID"
	leave
	[ "$(grep -c 'is nearly full: from here on' "$WORK/attach.err")" = 1 ]
	loss "$WORK/small/a.ucxb"
	[ "$DROPPED" -gt 0 ]
	jq -e '.detail.calls.recorded > 0 and .loss.dropped == {"detail thinned": $dropped}' \
		--argjson dropped "$DROPPED" "$WORK/report.json"
	jq -e '.notes | keys[] | select(test("disk .* nearly full"))' "$WORK/report.json"
	made=$(awk '!/pid/ { sum += $1 } END { printf "%d", sum }' "$WORK/flood")
	jq -e '[.calls[] | select(.function == "MPI_Waitall") | .count] | add == $made' --argjson made "$made" \
		"$WORK/report.json"
}

@test "a file at its size limit is told of once, and what was written before is there" {
	flood 60
	ulimit -Sf 300
	attach "$WORK/a.ucxb"
	ulimit -Sf unlimited
	status=0
	wait "$TRACER" || status=$?
	[ "$status" = 9 ]
	[ "$(grep -c 'File too large' "$WORK/attach.err")" = 1 ]
	# what refused the last chunk may be too full for the mark of its end, which has the counters
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	jq -e '.loss.stored > 0' "$WORK/report.json"
}
