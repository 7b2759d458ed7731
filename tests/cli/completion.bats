# SPDX-License-Identifier: BSD-3-Clause
# Completion in real shells: what each offers is what the program takes.

setup_file()
{
	export TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export BUILD=${BUILD:-$TOP/build}
	export UCXBPF=${UCXBPF:-$BUILD/ucxbpf}
	export MADE=$BUILD/completion
	export BASH_COMPLETION=$MADE/ucxbpf.bash
}

# offered WORD...: what a new bash offers for the last word of the command line, a line each
offered()
{
	bash --norc -c 'source "$BASH_COMPLETION"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_ucxbpf 2>&1
		printf "%s\n" "${COMPREPLY[@]}"' _ ucxbpf "$@"
}

# is_offered WORDS WANTED: words of the command line, with @ for an empty one
is_offered()
{
	local words seen

	read -ra words <<<"$1"
	seen=$(offered "${words[@]/#@/}" | sort -u | xargs)
	echo "$1: $seen"
	[ "$seen" = "$2" ]
}

long_options() { "$UCXBPF" $1 --help | grep -oE '^ +(-., +|-\?, +)?--[a-z-]+' | grep -oE -- '--.*' | grep -vx -- --usage | sort; }

@test "bash: all commands, and of each command all options that its --help lists" {
	local name commands

	commands=$("$UCXBPF" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	[ "$(wc -l <<<"$commands")" -ge 13 ]
	[ "$(offered '' | grep -v -- '^-' | sort)" = "$(printf '%s\n' "$commands" help version | sort)" ]
	for name in $commands 'sweep merge'; do
		diff <(offered $name -- | grep '^--' | sort) <(long_options "$name") || {
			echo "of $name"
			false
		}
	done
}

@test "bash: values, arguments and verbs" {
	mkdir -p "$BATS_TEST_TMPDIR/in/some.folder"
	cd "$BATS_TEST_TMPDIR/in"
	touch some.ucxb
	is_offered 'attach --level @' 'mpi ucp uct'
	is_offered 'attach --level = @' 'mpi ucp uct'
	is_offered 'attach --level =' 'mpi ucp uct'
	is_offered 'attach --budget @' none
	is_offered 'attach -d @' ''
	is_offered 'attach --job 7 --al' '--all --all-nodes'
	is_offered "attach $$" "$$"
	is_offered 'export -f n' ndjson
	is_offered 'check -f j' 'json junit'
	is_offered 'replay so' 'some.folder some.ucxb'
	is_offered 'check --baseline so' 'some.folder some.ucxb'
	is_offered 'diff --before so' 'some.folder some.ucxb'
	is_offered 'policy @' 'check learn rules'
	is_offered 'policy learn so' 'some.folder some.ucxb'
	is_offered 'policy rules so' ''
	is_offered 'sweep report so' some.folder
	is_offered 'sweep merge --s' --shard
	is_offered 'sweep run --s' '--seed --shared'
	is_offered 'run -o x -- mktem' mktemp
	is_offered 'run mktemp -p so' 'some.folder some.ucxb'
	is_offered 'help rep' replay
	is_offered 'nosuch @' ''
}

@test "bash: loaded without a message, and registered" {
	run bash --norc -c 'source "$BASH_COMPLETION"; complete -p ucxbpf'
	[ "$output" = "complete -F _ucxbpf ucxbpf" ]
}

@test "zsh" {
	command -v zsh >/dev/null || skip "no zsh"
	zsh -n "$MADE/_ucxbpf"
	complete_line() { "$TOP/tests/lib/zsh-complete" "$MADE" "$1"; }
	[ "$(complete_line 'ucxbpf att')" = 'ucxbpf attach ' ]
	[ "$(complete_line 'ucxbpf attach --rin')" = 'ucxbpf attach --ring-size=' ]
	[ "$(complete_line 'ucxbpf attach --level=m')" = 'ucxbpf attach --level=mpi ' ]
	[ "$(complete_line 'ucxbpf export -f nd')" = 'ucxbpf export -f ndjson ' ]
	[ "$(complete_line 'ucxbpf policy le')" = 'ucxbpf policy learn ' ]
	[ "$(complete_line 'ucxbpf sweep merge --sha')" = 'ucxbpf sweep merge --shard=' ]
	[ "$(complete_line "ucxbpf replay $TOP/tests/data/gromacs.u")" = "ucxbpf replay $TOP/tests/data/gromacs.ucxb " ]
}

@test "fish" {
	command -v fish >/dev/null || skip "no fish"
	export HOME=$BATS_TEST_TMPDIR
	complete_line() { fish -c "source $MADE/ucxbpf.fish; complete -C '$1'" | cut -f1 | xargs; }
	[ "$(complete_line 'ucxbpf att')" = attach ]
	[ "$(complete_line 'ucxbpf attach --rin')" = --ring-size ]
	[ "$(complete_line 'ucxbpf attach --level ')" = 'mpi ucp uct' ]
	[ "$(complete_line 'ucxbpf export -f n')" = ndjson ]
	[ "$(complete_line 'ucxbpf policy ')" = 'check learn rules' ]
	[ "$(complete_line 'ucxbpf sweep merge --s')" = --shard ]
	[ "$(complete_line 'ucxbpf sweep run --s')" = '--seed --shared' ]
	[ "$(complete_line "ucxbpf replay $TOP/tests/data/gromacs.u")" = "$TOP/tests/data/gromacs.ucxb" ]
}

@test "make install puts them where the shells look" {
	make -s -C "$TOP" install-built DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr O="${BUILD#"$TOP"/}" >/dev/null
	cd "$BATS_TEST_TMPDIR/root/usr/share"
	cmp bash-completion/completions/ucxbpf "$MADE/ucxbpf.bash"
	cmp zsh/site-functions/_ucxbpf "$MADE/_ucxbpf"
	cmp fish/vendor_completions.d/ucxbpf.fish "$MADE/ucxbpf.fish"
}
