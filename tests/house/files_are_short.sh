# No source file of the project $1 has more than 400 lines.
. "$(dirname "$0")/sources.sh"
sources "$1" | while IFS= read -r file; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 400 ] || echo "$file: $lines lines, at most 400"
done | { ! grep .; }
