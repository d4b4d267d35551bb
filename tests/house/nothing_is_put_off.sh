# No file of the project $1 holds a note of work that somebody should do some day.
. "$(dirname "$0")/sources.sh"
{
  sources "$1"
  find "$1" -maxdepth 1 -name '*.md'
  find "$1/docs" -name '*.md' 2>/dev/null
} | while IFS= read -r file; do
  grep -HnwE 'TODO|FIXME|XXX|HACK' "$file"
done | { ! grep .; }
