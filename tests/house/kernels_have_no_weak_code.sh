# No source file of an instruction set, kernels_*.cc, puts code into the archive $1 that the linker may take
# for the whole program: it would run on machines that lack the instructions.
set -eu
symbols=$(nm -A --defined-only "$1")
kernels=$(echo "$symbols" | grep ':kernels_.*\.o:')
if echo "$kernels" | grep ':[0-9a-f]* W '; then exit 1; fi
