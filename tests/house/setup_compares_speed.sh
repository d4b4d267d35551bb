# tools/ci/speed compares a build with the base commit's, fails beyond 10 % only, and says where there is nothing to
# compare with.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
project=$scratch/project
mkdir -p "$project/tools/ci" "$project/build/release/bin"
cp "$1/tools/ci/speed" "$project/tools/ci"
cp "$1/tools/base" "$project/tools"
cat >"$project/tools/setup.sh" <<'END'
say() { echo "$*" >&2; }
fail() { say "error: $*" && exit 1; }
need() { :; }
build_program() { :; }
END
echo build >"$project/.gitignore"
cd "$project"
export XDG_CACHE_HOME="$scratch/cache" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset SPECTR_BASE
git init -q -b main
commit() { git add -A && git -c user.name=A -c user.email=a@b commit -q --allow-empty -m "$1" && git rev-parse HEAD; }
# builds MILLISECONDS: a program that says that its fastest pass takes so long.
builds() {
  others='{\"samples_ns\":[1e7, 2e7]},{\"samples_ns\":[3e7]},{\"samples_ns\":[4e7]}'
  printf '#!/bin/sh\necho "[{\"samples_ns\":[9e9,%se6]},%s]"\necho run >>%s/runs\n' "$1" "$others" "$scratch" \
    >build/release/bin/spectr
  chmod +x build/release/bin/spectr
}
# expect STATUS LAST-LINE WORDS
expect() {
  status=0
  : >"$scratch/runs"
  tools/ci/speed >"$scratch/log" 2>&1 || status=$?
  cat "$scratch/log"
  [ "$status" = "$1" ]
  [ "$(tail -n 1 "$scratch/log")" = "$2" ]
  grep -q "$3" "$scratch/log"
}
builds 100
first=$(commit first)
expect 0 '0 passed, 0 failed' 'speed is not compared: no build of a base commit'
[ -x "$scratch/cache/spectr-ci/$first/spectr" ]
commit second >"$scratch/second"
builds 105
expect 0 '1 passed, 0 failed' '7m-q8_0  pp8    new / base: 0.952 (76 tokens/s)'
[ "$(wc -l <"$scratch/runs")" = 42 ]
builds 115
expect 1 '0 passed, 1 failed' 'slower by more than 10 %'
[ "$(wc -l <"$scratch/runs")" = 168 ]
touch changed
builds 80
expect 0 '1 passed, 0 failed' 'new / base: 1.250'
cmp -s build/release/bin/spectr "$scratch/cache/spectr-ci/$(cat "$scratch/second")/spectr" && exit 1
rm -r "$scratch/cache"
expect 0 '0 passed, 0 failed' "speed is not compared: no build of $first"
