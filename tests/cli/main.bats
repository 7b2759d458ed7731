#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The program without a trace: help, version, what it does not know.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	COMMANDS=$(sed -n 's/^int cmd_\([a-z_]*\)(.*/\1/p' "$TOP/user/cmd/cmds.h")
	[ -n "$COMMANDS" ]
}

@test "--help lists every command with a line of help, and examples" {
	run "$UCXBPF" --help
	[ "$status" -eq 0 ]
	for name in $COMMANDS; do
		grep -qE "^  $name +[a-z]" <<<"$output" || {
			echo "no help line for $name"
			false
		}
		grep -q "ucxbpf $name" <<<"$output"
	done
}

@test "the program says nothing of where it was built" {
	run grep -cF "$TOP" "$UCXBPF"
	[ "$output" = 0 ]
}

# confined COMMAND...: while it waits for a reader of its output
confined()
{
	local pid kept=000000000000000f

	[ "$(id -u)" = 0 ] || kept=0000000000000000
	mkfifo "$BATS_TEST_TMPDIR/out"
	"$UCXBPF" "$@" >"$BATS_TEST_TMPDIR/out" 3>&- &
	pid=$!
	exec 4<"$BATS_TEST_TMPDIR/out"
	read -r -n 1 -u 4
	grep -E 'NoNewPrivs|Seccomp:|CapEff' "/proc/$pid/status" | awk '{ print $2 }' | xargs >"$BATS_TEST_TMPDIR/has"
	cat <&4 >/dev/null
	exec 4<&-
	wait "$pid" || true
	rm "$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/has"
	[ "$(cat "$BATS_TEST_TMPDIR/has")" = "$kept 1 2" ]
}

@test "a closed standard output is given to no file, and is an error" {
	local options

	while read -r options; do
		status=0
		# shellcheck disable=SC2086
		"$UCXBPF" $options 2>"$BATS_TEST_TMPDIR/err" >&- || status=$?
		echo "$options: $status $(cat "$BATS_TEST_TMPDIR/err")"
		[ "$status" = 1 ]
		grep -qxF "ucxbpf: error: standard output: Bad file descriptor" "$BATS_TEST_TMPDIR/err"
	done <<-END
		inventory
		doctor
		schema
		replay $TOP/tests/data/send.ucxb
		export -f ndjson $TOP/tests/data/send.ucxb
	END
}

@test "commands that only read files can do little else" {
	confined replay --json "$TOP/tests/data/gromacs.ucxb"
	confined export -f ndjson -o /dev/stdout "$TOP/tests/data/gromacs.ucxb"
}

@test "words of the command line that a message repeats steer no terminal" {
	local word=$'\e[31m\x9b\x7f' words wanted

	while IFS='|' read -r words wanted; do
		# shellcheck disable=SC2086
		run "$UCXBPF" ${words//WORD/$word}
		echo "$words: $output"
		! LC_ALL=C grep -qa '[^ -~]' <<<"$output" || false
		grep -qF -- "$wanted" <<<"$output"
	done <<-'END'
		WORD|no command '?[31m??'
		replay --WORD|unrecognized option '--?[31m??'
		replay --json=WORD x|doesn't allow an argument
		export -f WORD x|--format=?[31m??: there is no such format
		attach -p WORD|'?[31m??' is not a process id
		replay WORD|?[31m??: no such file
	END
	"$UCXBPF" replay --process="$word" "$TOP/tests/data/send.ucxb" >"$BATS_TEST_TMPDIR/out"
	grep -qa '^filter: process ?\[31m?? ' "$BATS_TEST_TMPDIR/out"
}

@test "every command has --help with an example" {
	for name in $COMMANDS; do
		run "$UCXBPF" $name --help
		[ "$status" -eq 0 ]
		grep -q "ucxbpf $name" <<<"$output"
	done
}

@test "--help and --version that cannot be written fail, of every command with its own status" {
	[ -w /dev/full ] || skip "no /dev/full"
	local line name wanted
	for line in "--version 9" "--help 9" "run 9" "attach 9" "top 9" "pending 9" "serve 9" "replay 9" "export 9" "diff 5" \
		"schema 9" "inventory 9" "doctor 9" "check 5" "policy 5" "sweep 5" "sweep merge 5"; do
		name=${line% *} wanted=${line##* }
		[[ $name == --* ]] || name+=" --help"
		run bash -c "'$UCXBPF' $name 2>&1 >/dev/full"
		[ "$status" -eq "$wanted" ]
		[[ $output == "ucxbpf: error: standard output: "* ]]
		[ "${#lines[@]}" = 1 ]
	done
	# whoever reads it may stop early
	run bash -c "trap '' PIPE; { sleep 0.2; '$UCXBPF' run --help; echo \$? >'$BATS_TEST_TMPDIR/status'; } | true"
	[ "$(cat "$BATS_TEST_TMPDIR/status")" = 0 ]
}

@test "--version" {
	run "$UCXBPF" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^ucxbpf\ [0-9]+\.[0-9]+\.[0-9]+ ]]
	[ "$("$UCXBPF" version)" = "$output" ]
}

@test "a misspelt command, and another tool's word for one: what is meant" {
	local word meant

	while read -r word meant; do
		run "$UCXBPF" "$word"
		[ "$status" -eq 2 ]
		[ "$output" = "ucxbpf: error: no command '$word', did you mean '$meant'?" ]
		run "$UCXBPF" help "$word"
		[ "$status" -eq 2 ]
		[ "$output" = "ucxbpf: error: no command '$word', did you mean '$meant'?" ]
	done <<-'END'
		atach attach
		attahc attach
		repaly replay
		chekc check
		dif diff
		inventroy inventory
		report replay
		record run
		trace attach
	END
	for word in x zz frobnicate replaysallcaptures; do
		run "$UCXBPF" "$word"
		[ "$status" -eq 2 ]
		[ "$output" = "ucxbpf: error: no command '$word', see ucxbpf --help" ]
	done
}

@test "no command, an unknown one, an unknown option: usage" {
	run "$UCXBPF"
	[ "$status" -eq 2 ]
	run "$UCXBPF" frobnicate
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	run "$UCXBPF" --frobnicate
	[ "$status" -eq 2 ]
	run "$UCXBPF" doctor --frobnicate
	[ "$status" -eq 2 ]
}

@test "help COMMAND and COMMAND -h are COMMAND --help" {
	for command in run attach top pending serve replay export diff schema check policy sweep inventory doctor; do
		"$UCXBPF" "$command" --help >"$BATS_TEST_TMPDIR/help"
		"$UCXBPF" help "$command" | diff - "$BATS_TEST_TMPDIR/help"
		"$UCXBPF" "$command" -h | diff - "$BATS_TEST_TMPDIR/help"
	done
	run "$UCXBPF" help frobnicate
	[ "$status" -eq 2 ]
	[ "$output" = "ucxbpf: error: no command 'frobnicate', see ucxbpf --help" ]
	# wherever it stands
	local words
	for words in "replay a.ucxb -h|replay" "sweep run -h|sweep" "sweep merge -h|sweep merge" "policy check x -h|policy" \
		"doctor -p 1 -h|doctor" "pending --all -h|pending" "attach --level mpi -h|attach" "run -q -h|run"; do
		"$UCXBPF" ${words##*|} --help >"$BATS_TEST_TMPDIR/help"
		"$UCXBPF" ${words%|*} | diff - "$BATS_TEST_TMPDIR/help"
	done
	run "$UCXBPF" run -- echo -h
	[ "$status" -eq 0 ]
	[[ $output == *-h* ]]
}

@test "--call-ends takes no value" {
	for command in "run --call-ends=yes -- true" "attach --call-ends=1 -p 1"; do
		run "$UCXBPF" $command
		[ "$status" -eq 2 ]
		[[ $output == *call-ends* ]]
	done
}

@test "--count takes no value, no exact ends, no windows" {
	for command in "run --count=yes -- true" "attach --count=1 -p 1" "run --count --call-ends -- true" \
		"attach --count --window 1s/5s -p 1"; do
		# shellcheck disable=SC2086
		run "$UCXBPF" $command
		[ "$status" -eq 2 ]
		[[ $output == *--count* ]]
	done
}

@test "--thin: bad values, and together with --count" {
	for value in "" 1 1/ /8 0/8 9/8 1/3 1/128 -1/8 1/8x 1.5/8 "1/8 " 8; do
		for command in "run --thin" "attach -p 1 --thin"; do
			# shellcheck disable=SC2086
			run "$UCXBPF" $command "$value"
			[ "$status" -eq 2 ]
			[[ ${lines[0]} == *"'$value'"* ]]
		done
	done
	run "$UCXBPF" run --count --thin 1/8 -- true
	[ "$status" -eq 2 ]
	[[ $output == *--thin* ]]
}

@test "a name in what is said on stderr steers no terminal" {
	run "$UCXBPF" replay "$(printf 'no\033[31m\302\233file\377')"
	[ "$status" -eq 3 ]
	[ "$output" = "ucxbpf: error: no?[31m?file?: no such file" ]
}

@test "another user's pipe is no place for output, an own one is" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkfifo "$BATS_TEST_TMPDIR/foreign" "$BATS_TEST_TMPDIR/own"
	chown nobody "$BATS_TEST_TMPDIR/foreign"
	for command in "replay --json" "replay --html" "check -f json" "policy learn" "inventory"; do
		file=$TOP/tests/data/self.ucxb
		[ "$command" != inventory ] || file=
		# shellcheck disable=SC2086
		run timeout 20 "$UCXBPF" $command -o "$BATS_TEST_TMPDIR/foreign" $file
		echo "$command: $status $output"
		[ "$status" = 1 ] || [ "$status" = 5 ]
		[[ $output == *"/foreign: is another user's, name a new file" ]]
	done
	cat "$BATS_TEST_TMPDIR/own" >"$BATS_TEST_TMPDIR/got" 3>&- &
	"$UCXBPF" replay --json -o "$BATS_TEST_TMPDIR/own" "$TOP/tests/data/self.ucxb"
	wait $!
	"$UCXBPF" replay --json "$TOP/tests/data/self.ucxb" | cmp - "$BATS_TEST_TMPDIR/got"
}
