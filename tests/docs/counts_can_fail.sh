# A count that a document states fails when the code has another, when the sentence changes its number, and when the sentence or
# the code that it is derived from is gone.
set -eu
here=$(dirname "$0")
project=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for file in README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md docs data .ci models/README.md tests/house/files_are_short.sh \
  tests/docs/sentences_are_short.sh spectr/nn/arch/architectures.cc spectr/decode/methods.cc spectr/transport/plans.cc \
  spectr/nn/ops.h spectr/text/chat/chat_form_table.h spectr/backend/cpu/kernel_level.h lab/experiment.cc \
  spectr/decode/auto/auto_params.h spectr/decode/ngram.h; do
  mkdir -p "$scratch/project/$(dirname "$file")"
  cp -r "$project/$file" "$scratch/project/$file"
done
for model in "$project"/models/*.gguf; do : >"$scratch/project/models/${model##*/}"; done

expect() { # expect STATUS
  status=0
  sh "$here/counts_are_true.sh" "$scratch/project" >"$scratch/found" || status=1
  [ "$status" = "$1" ] || { echo "status $status, expected $1, for: $2" && cat "$scratch/found" && exit 1; }
}
# broken_by FILE EXPRESSION: sed's expression changes the file, and the counts fail until it is as before.
broken_by() {
  cp "$scratch/project/$1" "$scratch/before"
  sed -i "$2" "$scratch/project/$1"
  ! cmp -s "$scratch/before" "$scratch/project/$1" || { echo "$1: '$2' changes nothing" && exit 1; }
  expect 1 "$1: $2"
  cp "$scratch/before" "$scratch/project/$1"
}

expect 0 'the project as it is'
broken_by README.md 's/[0-9][0-9]* architectures/99 architectures/'
broken_by README.md 's/[0-9][0-9]* architectures/many architectures/'
broken_by CHANGELOG.md 's/models of [0-9]* architectures/models of 99 architectures/'
broken_by spectr/nn/arch/architectures.cc 's/^    {"llama", read_llama},/&\n    {"other", read_other},/'
broken_by spectr/nn/arch/architectures.cc 's/read_/load_/'
broken_by docs/models.md '/^| `gpt2` |/d'
broken_by docs/command-line.md 's/nineteen methods/eighteen methods/'
broken_by CHANGELOG.md 's/Nineteen methods:/20 methods:/'
broken_by docs/comparison.md 's/fourteen methods/thirteen methods/'
broken_by spectr/decode/methods.cc 's/^    {"plain",/    {"other", "", lossy, none, "", build_plain},\n&/'
broken_by docs/methods/README.md '/^| \[tree\]/d'
broken_by docs/command-line.md 's/Eleven plans/Ten plans/'
broken_by spectr/transport/plans.cc 's/^    {\.name = "maximal",/    {.name = "other",},\n&/'
broken_by docs/plans.md '/^| `maximal` | any/d'
broken_by ARCHITECTURE.md 's/[0-9]* operations on named/9 operations on named/'
broken_by spectr/nn/ops.h 's/^  virtual void scale(/  virtual void other() = 0;\n&/'
broken_by spectr/nn/ops.h 's/^  virtual void tap(/  virtual void other();\n&/'
broken_by CHANGELOG.md 's/[0-9]* templates by/1 templates by/'
broken_by spectr/backend/cpu/kernel_level.h 's/portable, /portable, sse, /'
broken_by docs/reproduction.md 's/Three experiments do not/Two experiments do not/'
broken_by spectr/decode/ngram.h 's/max_length = 15/max_length = 16/'
broken_by spectr/decode/auto/auto_params.h 's/min_regret = 3.0/min_regret = 4.0/'
broken_by docs/methods/auto.md 's/matches of 1 to 8 tokens/matches of 1 to 9 tokens/'
broken_by data/README.md 's/300 openings/301 openings/'
broken_by data/contexts.jsonl 1d
broken_by tests/house/files_are_short.sh 's/401/501/'
broken_by .ci/run "s/\(known='check\)/\1 other/"
broken_by CONTRIBUTING.md '/^| `tsan` |/d'
rm "$scratch/project"/models/*-draft-1.2m-*.gguf
expect 1 'a model less'
