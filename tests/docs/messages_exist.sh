# messages_exist.sh PROJECT: every message that the tables of docs/troubleshooting.md quote is one of the program's. What
# stands for names and numbers (…) matches anything; everything else must stand in the sources.
set -eu
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Literals that follow each other are one, quotes in them are quotes.
find spectr apps tools/setup.sh \( -name '*.cc' -o -name '*.h' -o -name '*.sh' \) -exec cat {} + |
  tr -s '\n ' ' ' | sed 's/\\"/\o1/g; s/" "//g; s/\o1/"/g' >"$scratch/sources"

# The column "message" of each table.
awk -F ' *[|] *' '
  !/^[|]/ { column = 0 }
  /^[|]/ && !column { for (i = 2; i < NF; i++) if ($i == "message") column = i; if (!column) column = -1; next }
  column > 0 && $column ~ /^`.*`$/ { print substr($column, 2, length($column) - 2) }' docs/troubleshooting.md >"$scratch/messages"
[ -s "$scratch/messages" ] || { echo "docs/troubleshooting.md: no messages" && exit 1; }

failed=0
while IFS= read -r message; do
  printf '%s\n' "$message" | sed 's/…/\n/g' >"$scratch/pieces"
  while IFS= read -r piece; do
    case $piece in *[a-zA-Z]*) ;; *) continue ;; esac
    grep -qF -- "$piece" "$scratch/sources" || { echo "no message of the program has '$piece': $message" && failed=1; }
  done <"$scratch/pieces"
done <"$scratch/messages"
exit $failed
