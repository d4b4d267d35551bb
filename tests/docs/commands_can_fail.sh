# A document with a wrong command fails, wherever the command stands; one that is exempt does not.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/models" "$scratch/data" "$scratch/tests"
printf '#!/bin/sh\n[ "$1" = good ]\n' >"$scratch/spectr"
chmod +x "$scratch/spectr"

expect() { # expect STATUS: for the document on standard input
  cat >"$scratch/page.md"
  status=0
  sh "$here/commands_run.sh" "$scratch/page.md" "$scratch" "$scratch/spectr" || status=$?
  [ "$status" = "$1" ] || { echo "status $status, expected $1" && exit 1; }
}

expect 0 <<'PAGE'
spectr wrong outside a block
```
spectr wrong in a block of another kind
```
```sh
apt-get wrong
spectr good
./run good \
  and long
```
<!-- not run: needs a model that is not here -->
```sh
spectr wrong
```
PAGE
expect 1 <<'PAGE'
```sh
spectr good
./run wrong
```
PAGE
expect 1 <<'PAGE'
<!-- not run: only the next block -->
```sh
spectr good
```
```sh
echo text | spectr wrong
```
PAGE
