# .ci/run goes through all of its jobs, also when some fail, and ends with the sum of their tests.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/a project/tools/ci"
cd "$scratch/a project"
cp -r "$1/.ci" .
printf 'need() { :; }\n' >tools/setup.sh

# job SCRIPT LINE STATUS: a job that says this and ends so.
job() {
  printf '#!/bin/sh\necho "%s"\nexit %s\n' "$2" "$3" >"$1"
  chmod +x "$1"
}
for real in "$1"/tools/ci/*; do job "tools/ci/${real##*/}" '2 passed, 0 failed' 0; done
count=$(find tools/ci -type f | wc -l)
job check '100% tests passed, 0 tests failed out of 7' 0

# expect PASSED FAILED STATUS NAMES
expect() {
  status=0
  .ci/run >log 2>&1 || status=$?
  cat log
  [ "$(tail -n 1 log)" = "$1 passed, $2 failed" ]
  [ "$status" = "$3" ]
  [ "$(grep -c '^== [a-z]*: .* minutes$' log)" = $((count + 1)) ]
  [ "$(sed -n 's/^== failed://p' log)" = "$4" ]
}
expect $((7 + 2 * count)) 0 0 ''
job check '71% tests passed, 2 tests failed out of 7' 8
job tools/ci/tsan 'the build failed' 1
expect $((5 + 2 * count - 2)) 3 1 ' check tsan'
