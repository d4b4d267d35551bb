# Compilers run side by side as processors and memory allow, also where a container has less than the machine.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$1/tools/setup.sh"
nproc() { echo 64; }

# expect_jobs MOST LIMIT: with so many bytes for the container at most so many compilers, but one at least.
expect_jobs() {
  echo "$2" >"$scratch/memory.max"
  memory_max=$scratch/memory.max
  found=$(jobs)
  [ "$found" -ge 1 ] && [ "$found" -le "$1" ] || { echo "$found jobs in $2 bytes" && exit 1; }
}
expect_jobs 64 max
expect_jobs 2 3100000000
expect_jobs 1 1600000000
expect_jobs 1 100000000
memory_max=$scratch/none
[ "$(jobs)" -ge 1 ]
