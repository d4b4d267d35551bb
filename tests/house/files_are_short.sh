# No source file of the project $1 has more than 400 lines.
. "$(dirname "$0")/sources.sh"
sources "$1" | tr '\n' '\0' | xargs -0 awk 'FNR == 401 { print FILENAME ": more than 400 lines" }' | { ! grep .; }
