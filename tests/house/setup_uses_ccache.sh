# Compilers are started by ccache where there is one, as far as the user has not said otherwise.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/project
. "$1/tools/setup.sh"
unset CMAKE_CXX_COMPILER_LAUNCHER CCACHE_BASEDIR CCACHE_NOHASHDIR

# What ccache answers: where it keeps what it has, and which folder's names do not count.
ccache() {
  case $2 in cache_dir) echo "$kept" ;; base_dir) echo "$base" ;; esac
}
kept='' base=''

# expect LAUNCHER FOLDER: what the environment says after use_ccache.
expect() {
  found=$(use_ccache && echo "${CMAKE_CXX_COMPILER_LAUNCHER-none} ${CCACHE_BASEDIR-none}")
  [ "$found" = "$1 $2" ] || { echo "$found instead of $1 $2" && exit 1; }
}
expect none none
kept=$scratch/kept
expect ccache "$root"
base=/home
expect ccache none
export CMAKE_CXX_COMPILER_LAUNCHER=sccache
expect sccache none
