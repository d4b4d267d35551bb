# No file of the project $1 holds a note of work that somebody should do some day.
. "$(dirname "$0")/sources.sh"
{
  sources "$1"
  find "$1" -maxdepth 1 -name '*.md'
  find "$1/docs" -name '*.md' 2>/dev/null
} | tr '\n' '\0' | xargs -0 grep -HnwE 'TODO|FIXME|XXX|HACK' | { ! grep .; }
