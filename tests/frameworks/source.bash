# SPDX-License-Identifier: BSD-3-Clause
# Where frameworks are built, and how a build starts and ends. Sourced by build-* and by frameworks.bats.

FRAMEWORKS=${XDG_CACHE_HOME:-$HOME/.cache}/ucxbpf-frameworks

# begin NAME VERSION TAG SOURCE: enters $WORK, a new folder with the source. Output goes to $BUILT.log from then on.
# Ends the script where $BUILT, the folder for keep(), is there already.
begin()
{
	local name=$1 version=$2 tag=$3 source=${4:-}

	BUILT=$FRAMEWORKS/$name-$version
	[ ! -e "$BUILT" ] || exit 0
	[ -d "$source" ] || {
		echo "usage: ${0##*/} SOURCE [VERSION]: SOURCE is a source tree or git repository of $name" >&2
		exit 2
	}
	source=$(realpath "$source")
	# Some take their version from the name of the folder.
	WORK=$FRAMEWORKS/work/$name-$version
	rm -rf "$WORK"
	mkdir -p "$WORK"
	case $(git -C "$source" rev-parse --git-dir 2>/dev/null) in
	. | .git)
		git -C "$source" rev-parse -q --verify "$tag^{commit}" >/dev/null || {
			echo "${0##*/}: $source has no version $version: no tag $tag" >&2
			exit 2
		}
		git -C "$source" archive "$tag" | tar x -C "$WORK"
		;;
	*) cp -a "$source/." "$WORK" ;;
	esac
	cd "$WORK"
	exec 3>&1 >"$BUILT.log" 2>&1
	trap 'status=$?; [ $status = 0 ] || { tail -n 5 "$BUILT.log"; echo "${BUILT##*/} was not built: $BUILT.log"; } >&3' EXIT
}

# keep FOLDER: of a build that is complete; the rest is removed
keep()
{
	mv "$1" "$BUILT"
	cd /
	rm -rf "$WORK"
}
