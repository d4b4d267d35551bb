# A quoted message that the program does not have fails, in whatever column it stands; one that it has passes.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/spectr" "$scratch/apps" "$scratch/tools" "$scratch/docs"
echo 'fail "missing: $names"' >"$scratch/tools/setup.sh"
cat >"$scratch/spectr/bad.cc" <<'SOURCE'
return error("{}: {} is {}, but \"one\" "
             "is needed", file, key, value);
SOURCE

expect() { # expect STATUS: for the tables on standard input
  cat >"$scratch/docs/troubleshooting.md"
  status=0
  sh "$here/messages_exist.sh" "$scratch" || status=$?
  [ "$status" = "$1" ] || { echo "status $status, expected $1" && exit 1; }
}

expect 1 </dev/null
expect 0 <<'PAGE'
| flag | meaning |
|---|---|
| `unheard of` | no message |

| message | meaning |
|---|---|
| `…: … is …, but "one" is needed` | of two lines |
| `missing: …` | of a script |
PAGE
expect 1 <<'PAGE'
| message | meaning |
|---|---|
| `… is …, but two are needed` | another one |
PAGE
expect 1 <<'PAGE'
| status | message |
|---:|---|
| 400 | `… is missing: no such file` |
PAGE
