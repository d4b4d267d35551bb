# commands_run.sh DOCUMENT PROJECT SPECTR: runs every command of spectr that the document shows, in an empty
# folder that has the project's models/, data/ and tests/; each must end with exit status 0.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
document=$1 project=$2 spectr=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/work"
ln -s "$spectr" "$scratch/bin/spectr"
ln -s "$spectr" "$scratch/work/run"
for folder in models data tests; do ln -s "$project/$folder" "$scratch/work/$folder"; done

awk -f "$here/commands.awk" "$document" >"$scratch/commands"
failed=0
while IFS='	' read -r line command; do
  status=0
  (cd "$scratch/work" && PATH=$scratch/bin:$PATH sh -c "$command") >"$scratch/output" 2>&1 </dev/null || status=$?
  echo "$document:$line: status $status: $command"
  [ "$status" = 0 ] || { cat "$scratch/output" && failed=1; }
done <"$scratch/commands"
exit $failed
