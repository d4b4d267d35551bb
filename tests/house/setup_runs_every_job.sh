# .ci/run goes through all of its jobs, also when some fail, and ends with the sum of their tests. It runs those that are
# named, and refuses others.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/a project/tools/ci"
cd "$scratch/a project"
cp -r "$1/.ci" .
printf 'need() { :; }\n' >tools/setup.sh

# job SCRIPT LINE STATUS: a job that says this and ends so.
job() {
  printf '#!/bin/sh\n[ "${1-}" != --passed ] || exec touch passed\necho "%s"\nexit %s\n' "$2" "$3" >"$1"
  chmod +x "$1"
}
count=0
for real in "$1"/tools/ci/*; do
  case ${real##*/} in
    nightly | skips* | matrices | clients | tables | python | oracle | docs) continue ;;  # not jobs of every change
  esac
  job "tools/ci/${real##*/}" '2 passed, 0 failed' 0
  count=$((count + 1))
done
job check '7 passed, 0 failed' 0

# expect PASSED FAILED STATUS NAMES JOBS [OPTION…]
expect() {
  passed=$1 failed=$2 ends=$3 names=$4 jobs=$5
  shift 5
  status=0
  .ci/run "$@" >log 2>&1 || status=$?
  sed 's/^/  /' log
  [ "$(tail -n 1 log)" = "$passed passed, $failed failed" ]
  [ "$status" = "$ends" ]
  [ "$(grep -c '^== [a-z]*: .* of processor time$' log)" = "$jobs" ]
  [ "$(sed -n 's/^== failed://p' log)" = "$names" ]
}
expect $((7 + 2 * count)) 0 0 '' $((count + 1))
[ -f passed ]
rm passed
job tools/ci/neon '3 passed, 0 failed
4 passed, 0 failed' 0  # the sums of two processors
expect 9 0 0 '' 2 neon lint
job check '5 passed, 2 failed' 8
job tools/ci/tsan 'the build failed' 1
expect $((5 + 7 + 2 * count - 4)) 3 1 ' check tsan' $((count + 1))
[ ! -f passed ]
job tools/ci/matrices '1 passed, 0 failed' 0
job tools/ci/clients '1 passed, 0 failed' 0
job tools/ci/tables '1 passed, 0 failed' 0
job tools/ci/python '1 passed, 0 failed' 0
job tools/ci/oracle '1 passed, 0 failed' 0
job tools/ci/docs '1 passed, 0 failed' 0
expect $((5 + 7 + 2 * count - 4 + 6)) 3 1 ' check tsan' $((count + 7)) --all
status=0
.ci/run neon nonsense >log 2>&1 || status=$?
[ "$status" = 2 ] && grep -q 'unknown job nonsense' log
