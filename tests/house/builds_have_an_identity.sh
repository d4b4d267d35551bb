# A build's identity changes with every file of the library and with the compiler, and with nothing else.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/spectr/base"
echo 'int a;' >"$scratch/spectr/base/a.cc"
echo 'int b;' >"$scratch/spectr/b.h"

# identity COMPILER: what a build by it would be.
identity() {
  cmake -D "SOURCES=$scratch/spectr" -D "COMPILER=$1" -D "OUTPUT=$scratch/out/identity.inc" -P "$root/cmake/BuildIdentity.cmake"
  sed -n 's/^#define SPECTR_BUILD_IDENTITY 0x\([0-9a-f]\{16\}\)$/\1/p' "$scratch/out/identity.inc" | grep .
}
root=$1
first=$(identity gcc)
written=$(stat -c %Y.%i "$scratch/out/identity.inc")
# differs WHAT: another identity than the first.
differs() {
  [ "$(identity "${2-gcc}")" != "$first" ] || { echo "the same identity with $1" && exit 1; }
}
sleep 1
touch "$scratch/spectr/b.h"
[ "$(identity gcc)" = "$first" ] || { echo 'another identity although nothing changed' && exit 1; }
[ "$(stat -c %Y.%i "$scratch/out/identity.inc")" = "$written" ] || { echo 'written again although nothing changed' && exit 1; }
differs 'another compiler' clang
echo 'int c;' >>"$scratch/spectr/base/a.cc"
differs 'a file that changed'
echo 'int a;' >"$scratch/spectr/base/a.cc"
[ "$(identity gcc)" = "$first" ] || { echo 'another identity of the same files' && exit 1; }
mv "$scratch/spectr/b.h" "$scratch/spectr/c.h"
differs 'a file of another name'
