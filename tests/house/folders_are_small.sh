# No folder of the project $1 has more than 40 source files, but for kernels: a list with a file for each instruction set.
. "$(dirname "$0")/sources.sh"
sources "$1" | grep -E '\.(cc|h|cuh)$' | sed "s|^$1/||; s|/[^/]*\$||" | sort | uniq -c |
  awk '$1 > 40 && $2 != "spectr/backend/cpu/kernels" { print $2 ": " $1 " files" }' | { ! grep .; }
