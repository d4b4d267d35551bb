# No source file of an instruction set, kernels_*.cc, puts code into the archive $1 that the linker may take
# for the whole program: it would run on machines that lack the instructions.
nm -A --defined-only "$1" | grep ':kernels_.*\.o:[0-9a-f]* W ' && exit 1
exit 0
