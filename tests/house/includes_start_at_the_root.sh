# Every quoted include in the project $1 names its file from the root: no "../", no bare "sibling.h".
. "$(dirname "$0")/sources.sh"
sources "$1" | grep -E '\.(cc|h|cuh)$' | tr '\n' '\0' | xargs -0 grep -Hn '^ *# *include *"' |
  grep -vE '"(spectr|apps|capi|lab|python|tests|microbench|fuzz|examples)/[^".]+\.(h|inc|cuh)"' | { ! grep .; }
