# Every rule accepts a clean little project and complains about one that breaks it.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/spectr/base" "$scratch/spectr/transport"
bad=$scratch/spectr/base/bad.cc

expect() { # expect STATUS RULE
  status=0
  sh "$here/$2.sh" "$scratch" >/dev/null || status=1
  [ "$status" = "$1" ] || { echo "$2: status $status, expected $1" && exit 1; }
}

# broken_by RULE TEXT: the rule holds for the project until it has a file with this text.
broken_by() {
  echo '#include "spectr/base/other.h"' >"$bad"
  expect 0 "$1"
  printf '%b\n' "$2" >"$bad"
  expect 1 "$1"
}

broken_by files_are_short "$(head -c 401 /dev/zero | tr '\0' 'x' | sed 's/x/\\n/g')"
broken_by includes_start_at_the_root '#include "../transport/plan.h"'
broken_by includes_start_at_the_root '#include "plan.h"'
broken_by layers_point_down '#include "spectr/transport/plan.h"'
broken_by layers_point_down '#include <spectr/gguf/gguf.h>'
broken_by nothing_is_put_off '// TO''DO: think'
for word in Of Those 'The same' What As And 'So many' 'So much'; do
  broken_by comments_are_sentences "/// $word rows."
  broken_by comments_are_sentences "int rows;\n  // $word rows."
  broken_by comments_are_sentences "int rows;  // $word rows."
  broken_by comments_are_sentences "int rows;  ///< $word rows."
  broken_by comments_are_sentences "int rows;  // Rows.\n// $word rows."
done
cat >"$bad" <<'CODE'
/// The rows of a pass.
/// As many as fit. And the same rows, of which
// What is left.
int rows;  // Rows, so many
           // As there are.
const char* url = "http://host// As";  // Ofen, whatever.
int main() { return 0; }  // And
CODE
expect 0 comments_are_sentences
mkdir -p "$scratch/third_party/other" "$scratch/build"
echo '// Of others.' | tee "$scratch/third_party/other/a.cc" "$scratch/build/a.cc" >/dev/null
expect 0 comments_are_sentences
rm -r "$scratch/third_party" "$scratch/build"
echo '// Of a shader.' >"$scratch/spectr/base/a.comp"
expect 1 comments_are_sentences
rm "$scratch/spectr/base/a.comp"

expect 0 folders_are_small
mkdir "$scratch/spectr/large" && for i in $(seq 41); do echo >"$scratch/spectr/large/$i.cc"; done
expect 1 folders_are_small
rm -r "$scratch/spectr/large"

compile() { # compile TEXT: as a kernel in an archive
  echo "$1" | c++ -x c++ -O2 -c -o "$scratch/kernels_new.cc.o" - && rm -f "$scratch/kernels.a"
  ar rc "$scratch/kernels.a" "$scratch/kernels_new.cc.o"
}
compile 'static inline int one() { return 1; } int (*chosen)() = one;'
sh "$here/kernels_have_no_weak_code.sh" "$scratch/kernels.a"
compile 'inline int one() { return 1; } int (*chosen)() = one;'
! sh "$here/kernels_have_no_weak_code.sh" "$scratch/kernels.a" >/dev/null || exit 1

mkdir -p "$scratch/spectr/nn/arch" "$scratch/spectr/backend/cpu"
echo '{{"llama", read_llama}}' >"$scratch/spectr/nn/arch/architectures.cc"
echo '// as llama.cpp has it' >"$scratch/spectr/backend/cpu/ops.cc"
expect 0 architectures_are_data
echo 'if (architecture == "llama")' >"$scratch/spectr/nn/graph.cc"
expect 1 architectures_are_data

mkdir "$scratch/spectr/attic" && rm "$bad" && expect 1 layers_point_down
