#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# docs/privileges.md: each capability, and what is lost without it; the lines that it recommends.

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/running.bash

setup()
{
	live_setup
	DOC=$TOP/docs/privileges.md
	ALL=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search
	# where somebody else may go, on a file system that keeps capabilities
	PLACE=$(mktemp -d /var/tmp/ucxbpf-privileges-XXXXXX)
	chmod 755 "$PLACE"
	cp "$UCXBPF" "$PLACE/ucxbpf"
	mkdir -m 777 "$PLACE/out"
}

teardown()
{
	running_teardown
	rm -rf "${PLACE:-/nonexistent}"
}

# as_nobody CAPABILITIES COMMAND...: ambient ones, as a unit's AmbientCapabilities
as_nobody()
{
	local list=${1//cap_/+}
	shift

	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="-all,$list" --ambient-caps="-all,$list" "$@"
}

# attach COMMAND...: root's job as start makes it; the report in $WORK/report.json
attach()
{
	"$@" attach -q -o "$PLACE/out/a.ucxb" -d 300ms "$PIDS" 2>"$WORK/err"
	"$UCXBPF" replay --json "$PLACE/out/a.ucxb" >"$WORK/report.json"
}

@test "ambient capabilities of the unit: another user's job, with ranks and variables" {
	[ "$(sed -n 's/^    AmbientCapabilities=//p' "$DOC" | tr 'A-Z ' 'a-z,')" = "$ALL" ]
	JOB_EXTRA=SLURM_JOB_ID=4711
	start openmpi shm n
	attach as_nobody "$ALL" "$PLACE/ucxbpf"
	[ ! -s "$WORK/err" ]
	jq -e '([.processes[].rank] | sort) == [0, 1] and all(.processes[]; .environment | tostring | contains("UCX_TLS")) and .notes == {}' \
		"$WORK/report.json"
	rm "$PLACE/out/a.ucxb"
	as_nobody "$ALL" "$PLACE/ucxbpf" attach -q -o "$PLACE/out/a.ucxb" -d 300ms --job 4711
	finish
}

@test "capabilities of the file: likewise, by the line of the document" {
	local line

	line=$(sed -n 's/^    \(setcap .*\)/\1/p' "$DOC")
	command -v setcap || skip "no setcap"
	${line/\/usr\/local\/bin/$PLACE} || skip "no capabilities of files on /var/tmp"
	start openmpi shm n
	attach setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$PLACE/ucxbpf"
	finish
	jq -e '([.processes[].rank] | sort) == [0, 1] and .notes == {}' "$WORK/report.json"
}

@test "without CAP_DAC_READ_SEARCH: said by doctor, by the report, and by --job" {
	local some=${ALL%,*} ended=0

	JOB_EXTRA=SLURM_JOB_ID=4711
	start openmpi shm n
	as_nobody "$some" "$PLACE/ucxbpf" doctor >"$WORK/doctor"
	grep -q '^note .*CAP_DAC_READ_SEARCH is missing: of other users. processes, the environment cannot be read' "$WORK/doctor"
	grep -q '^verdict .*a trace would work here' "$WORK/doctor"
	attach as_nobody "$some" "$PLACE/ucxbpf"
	jq -e '.notes | keys | any(startswith("could not read the environment of 2 processes, for want of CAP_DAC_READ_SEARCH"))' \
		"$WORK/report.json"
	grep -q 'could not read the environment of 2 processes' "$WORK/err"
	rm "$PLACE/out/a.ucxb"
	as_nobody "$some" "$PLACE/ucxbpf" attach -q -o "$PLACE/out/a.ucxb" --job 4711 2>"$WORK/err" || ended=$?
	finish
	[ "$ended" = 5 ]
	[ "$(wc -l <"$WORK/err")" = 1 ]
	grep -qE '^ucxbpf: error: could not read the environment of [0-9]+ processes, none of the others is of job 4711: it needs ' \
		"$WORK/err"
	[ ! -e "$PLACE/out/a.ucxb" ]
}

# The recommended four leave it out.
@test "without CAP_SYS_ADMIN: said by doctor, and where the report has the kernel's time" {
	as_nobody "$ALL" "$PLACE/ucxbpf" doctor >"$WORK/doctor"
	grep -q '^note .*CAP_SYS_ADMIN is missing: the kernel does not tell the time spent in BPF programs' "$WORK/doctor"
	start openmpi shm n
	attach as_nobody "$ALL" "$PLACE/ucxbpf"
	finish
	jq -e '.self.kernel_unknown == "the kernel measures it with CAP_SYS_ADMIN only"' "$WORK/report.json"
}

@test "without one of the others: no trace, and which one it is" {
	local name rest

	for name in bpf perfmon sys_ptrace; do
		rest=$(tr , '\n' <<<"$ALL" | grep -v "cap_$name$" | paste -sd,)
		run as_nobody "$rest" "$PLACE/ucxbpf" doctor
		[ "$status" = 5 ]
		grep -q "^PROBLEM .*CAP_${name^^} is missing: " <<<"$output"
	done
}

# without CAPABILITY COMMAND...: as root, who has all others
without()
{
	setpriv "--bounding-set=-$1" "--inh-caps=-$1" "${@:2}"
}

# ranks, whose the capture is, and what of the report is not known
learned()
{
	jq -rj '[.processes[].rank] | sort | tostring' "$WORK/report.json"
	stat -c " %u" "$PLACE/out/a.ucxb"
	jq -r '.notes | keys[]' "$WORK/report.json"
	jq -r '.self.kernel_unknown // empty | select(. != "too few hits were measured")' "$WORK/report.json"
}

@test "root's tracer without one of the twelve that it keeps: what is lost" {
	local names name lost ended

	names=$(sed -n '/^static const uint64_t for_files/,/^static const uint32_t/p' "$TOP/user/base/confine.c" |
		grep -o 'BIT(CAP_[A-Z_]*' | sed 's/BIT(CAP_//' | tr A-Z a-z)
	[ "$(wc -w <<<"$names")" = 12 ]
	start openmpi shm n
	export SUDO_UID=65534 SUDO_GID=65534
	for name in $names; do
		rm -f "$PLACE/out/a.ucxb"
		if [ "$name" = sys_ptrace ]; then
			ended=0
			without $name "$UCXBPF" attach -q -o "$PLACE/out/a.ucxb" -d 300ms "$PIDS" 2>"$WORK/err" || ended=$?
			[ "$ended" = 5 ]
			grep -q '^ucxbpf: error: cannot trace process .*: Permission denied; it needs CAP_SYS_PTRACE' "$WORK/err"
			continue
		fi
		case $name in
		chown) lost="[0,1] 0" ;;
		sys_admin) lost=$'[0,1] 65534\nthe kernel measures it with CAP_SYS_ADMIN only' ;;
		*) lost="[0,1] 65534" ;;
		esac
		attach without $name "$UCXBPF"
		echo "$name: $(cat "$WORK/err") $(learned)"
		[ ! -s "$WORK/err" ]
		[ "$(learned)" = "$lost" ]
	done
	finish
}

@test "sudoers and unit have the form that visudo and systemd take" {
	local checked=

	sed -n 's/^    \(%ucxbpf .*\)/\1/p' "$DOC" >"$WORK/sudoers"
	[ -s "$WORK/sudoers" ]
	if command -v visudo; then
		visudo -c -f "$WORK/sudoers"
		checked=yes
	fi
	awk '/^    \[Unit\]/ { on = 1 } on && /^[^ ]/ { exit } on { print substr($0, 5) }' "$DOC" |
		sed "s#/usr/local/bin/ucxbpf#$UCXBPF#" >"$WORK/ucxbpf.service"
	if command -v systemd-analyze; then
		systemd-analyze verify --man=no "$WORK/ucxbpf.service" 2>"$WORK/unit.err"
		! grep -q ucxbpf.service "$WORK/unit.err" || false
		checked=yes
	fi
	[ -n "$checked" ] || skip "neither visudo nor systemd-analyze here"
}

# as_user USER COMMAND...: of users that only this command knows of, with the document's line in the sudoers file
as_user()
{
	local file

	mkdir -p "$WORK/etc"
	for file in passwd group shadow; do
		cp -p /etc/$file "$WORK/etc/$file"
	done
	for file in 7001:traceruser 7002:otheruser; do
		echo "${file#*:}:x:${file%:*}:${file%:*}::/nonexistent:/bin/sh" >>"$WORK/etc/passwd"
		echo "${file#*:}:x:${file%:*}:" >>"$WORK/etc/group"
		echo "${file#*:}:*:19000::::::" >>"$WORK/etc/shadow"
	done
	echo "ucxbpf:x:7003:traceruser" >>"$WORK/etc/group"
	sed -n 's/^    \(%ucxbpf .*\)/\1/p' "$DOC" | sed "s#/usr/local/bin/ucxbpf#$PLACE/ucxbpf#g" >"$WORK/etc/sudoers"
	chmod 440 "$WORK/etc/sudoers"
	unshare --mount --propagation private bash -c '
		from=$1 user=$2
		shift 2
		for file in passwd group shadow sudoers; do
			mount --bind "$from/$file" /etc/$file || exit
		done
		exec setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups --inh-caps=-all "$@"' _ "$WORK/etc" "$@"
}

@test "sudo: the line of the document lets its group attach, and nobody else, and nothing more" {
	command -v sudo || skip "no sudo"
	start openmpi shm n
	attach as_user traceruser sudo -n "$PLACE/ucxbpf"
	run ! as_user traceruser sudo -n "$PLACE/ucxbpf" run -q -o "$PLACE/out/b.ucxb" -- true
	run ! as_user otheruser sudo -n "$PLACE/ucxbpf" attach -q -o "$PLACE/out/b.ucxb" -d 300ms "$PIDS"
	as_user traceruser sudo -n "$PLACE/ucxbpf" pending --json -p "$PIDS" >"$WORK/pending"
	finish
	[ ! -e "$PLACE/out/b.ucxb" ]
	[ "$(stat -c %u "$PLACE/out/a.ucxb")" = 7001 ]
	jq -e '([.processes[].rank] | sort) == [0, 1] and .notes == {}' "$WORK/report.json"
	jq -e '.open' "$WORK/pending"
}

@test "a capture that is there is kept, by run and attach; a background job of a script takes SIGINT" {
	local tracer

	start openmpi shm n
	cd "$WORK"
	"$UCXBPF" attach -q -o a.ucxb -d 200ms "$PIDS"
	cp a.ucxb first
	# bash has it ignore SIGINT
	"$UCXBPF" attach -q -o a.ucxb "$PIDS" 2>err 3>&- &
	tracer=$!
	soon cmp -s a.ucxb.old first
	soon calls_in a.ucxb 1
	kill -INT $tracer
	wait $tracer
	[ "$(cat err)" = "ucxbpf: warning: 'a.ucxb' is a capture already, which is kept as 'a.ucxb.old'" ]
	! cmp -s a.ucxb first || false
	"$UCXBPF" replay a.ucxb >/dev/null
	cp a.ucxb second
	"$UCXBPF" run -q -o a.ucxb -- "${JOB[@]::${#JOB[@]}-2}" 10
	cmp a.ucxb.old second
	"$UCXBPF" replay a.ucxb >/dev/null
	finish
}
