# tools/base names the commit that a change is compared with: the one given, the merge base with main elsewhere, the
# nearest that passed here, or the one before.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/project/tools"
cp "$1/tools/base" "$scratch/project/tools"
cd "$scratch/project"
export XDG_CACHE_HOME="$scratch/cache" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset SPECTR_BASE
# expect COMMIT
expect() {
  found=$(tools/base)
  [ "$found" = "$1" ] || { echo "'$found' instead of '$1'" && exit 1; }
}
expect ''  # no repository, or none of its own
git init -q -b main
commit() { git -c user.name=A -c user.email=a@b commit -q --allow-empty -m "$1" && git rev-parse HEAD; }
first=$(commit first)
expect ''
second=$(commit second)
third=$(commit third)
expect "$second"
mkdir -p "$scratch/cache/spectr-ci/$first"
expect "$second"
touch "$scratch/cache/spectr-ci/$first/passed"
expect "$first"
git update-ref refs/remotes/origin/main "$third"
expect "$first"  # main elsewhere has all of it
git update-ref refs/remotes/origin/main "$second"
expect "$second"
SPECTR_BASE=$first
export SPECTR_BASE
expect "$first"
SPECTR_BASE=0000000000000000000000000000000000000000  # what a first push has before it
expect "$second"
