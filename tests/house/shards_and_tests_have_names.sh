# ctest finds the shards of a folder's tests by the folder's name, and with -C Each every test by its own.
set -eu
ctest=$1 build=$2
# Asked from a folder of its own: ctest writes a log even where it only lists, and the one of $build is being written.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "subdirs(\"$build\")" >"$scratch/CTestTestfile.cmake"
# names [OPTION…]: what ctest would run.
names() { "$ctest" --test-dir "$scratch" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p'; }
shards=$(names -R '^base\.')
echo "$shards" | grep -qx 'base.fast_1of2'
echo "$shards" | grep -qx 'base.fast_2of2'
! echo "$shards" | grep -v '^base\.fast_' || exit 1
[ "$(names -L fast -R '^base\.')" = "$shards" ]
each=$(names -C Each -R '^base\.')
! echo "$each" | grep 'fast_[0-9]*of[0-9]*$' || exit 1
[ "$(echo "$each" | wc -l)" -gt 20 ]
