# On a machine where dpkg knows of no package, ./run and ./check --no-install refuse in one line that names
# the packages, and change nothing.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/a project"
cp -r "$1/run" "$1/check" "$1/tools" "$scratch/a project"
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch/bin/dpkg-query"

for script in run check; do
  status=0
  answer=$(PATH=$scratch/bin:$PATH "$scratch/a project/$script" --no-install 2>&1) || status=$?
  echo "$answer"
  [ "$status" = 1 ]
  [ "$(echo "$answer" | wc -l)" = 1 ]
  for package in $(sed -n 's/^build  *\([^ ]*\).*/\1/p' "$1/tools/packages.txt"); do
    case $answer in "spectr: error: missing packages: "*"$package"*) ;; *) exit 1 ;; esac
  done
done
[ ! -e "$scratch/a project/build" ]
