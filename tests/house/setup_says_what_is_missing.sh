# On a machine where dpkg knows of no package, ./run and ./check --no-install refuse in one line that names
# the packages, and change nothing.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/a project"
cp -r "$1/run" "$1/check" "$1/tools" "$scratch/a project"
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch/bin/dpkg-query"
packages=$1/tools/packages.txt

# refused GROUPS SCRIPT [OPTION…]: so it says for all packages of these groups, named with | between them.
refused() {
  groups=$1 script=$2 status=0
  shift 2
  answer=$(PATH=$scratch/bin:$PATH "$scratch/a project/$script" --no-install "$@" 2>&1) || status=$?
  echo "$answer"
  [ "$status" = 1 ]
  [ "$(echo "$answer" | wc -l)" = 1 ]
  for package in $(sed -nE "s/^($groups)  *([^ ]*).*/\2/p" "$packages"); do
    case $answer in "spectr: error: missing packages: "*"$package"*) ;; *) exit 1 ;; esac
  done
}
refused build run
refused 'build|server' run serve
components='server|bench|lab|gpu|mpi'
refused "build|$components|test" check
refused "build|$components|test|ci" check --all
[ ! -e "$scratch/a project/build" ]
