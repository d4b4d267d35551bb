# Counts in the documents of project $1 are those of the code: each is derived from a table in a source file, or from the files
# of a folder, and compared with the number in the sentence that states it, in digits or as a word.
set -eu
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
words='zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
number="([0-9][0-9,]*|$(echo "$words" | tr ' ' '|'))"

# fact VALUE DOCUMENT SENTENCE: the document has this sentence, an extended regular expression, with a number in the place of
# its first N, and wherever it has it the number is the value.
fact() {
  value=$1 document=$2 sentence=$3
  [ "$value" -gt 0 ] || { echo "$document: nothing is counted for '$sentence'" && return; }
  tr '\n' ' ' <"$document" | tr -s ' ' >"$scratch/text"
  before=${sentence%%N*} after=${sentence#*N}
  grep -oiE "(^|[^[:alnum:]])$before$number$after" "$scratch/text" >"$scratch/found" || echo "$document: no '$sentence'"
  while IFS= read -r found; do
    said=$(printf '%s\n' "$found" | sed -E "s/^[^[:alnum:]]?$before//I; s/([0-9]),/\1/g; s/[^[:alnum:]].*//" | tr A-Z a-z)
    said=$(echo "$words" | awk -v word="$said" '{ for (i = 1; i <= NF; i++) if ($i == word) word = i - 1; print word }')
    [ "$said" = "$value" ] || echo "$document: says '$found', but the code has $value"
  done <"$scratch/found"
}

# rows DOCUMENT HEAD: the first cells of the table whose head begins so, without marks and links.
rows() {
  awk -v head="$2" '
    index($0, head) == 1 { inside = 1; getline; next }
    inside && !/^[|]/ { exit }
    inside { sub(/^[|] */, ""); sub(/ *[|].*/, ""); gsub(/[`*]/, ""); gsub(/\]\([^)]*\)/, ""); gsub(/\[/, ""); print }' "$1"
}
count() { grep -c . || :; }  # lines of standard input that are not empty

# same DOCUMENT WHAT: the names on standard input are those of the file $scratch/names, in any order.
same() {
  tr ',' '\n' | sed 's/^ *//; s/ *$//' | grep . | sort -u >"$scratch/rows"
  sort -u "$scratch/names" | diff - "$scratch/rows" >"$scratch/difference" ||
    { echo "$1: $2 of the code (<) and of the document (>) differ:" && grep '^[<>]' "$scratch/difference"; }
}

{
  # Architectures.
  sed -n 's/^ *{"\([a-z0-9-]*\)", read_.*/\1/p' spectr/nn/arch/architectures.cc >"$scratch/names"
  fact "$(count <"$scratch/names")" README.md '\[N architectures'
  fact "$(grep -vc bert "$scratch/names")" CHANGELOG.md 'models of N architectures'  # encoders generate no text
  rows docs/models.md '| `general.architecture` |' | same docs/models.md 'architectures'

  # Methods.
  sed -n '/^constexpr auto rules/,/^});/p' spectr/decode/methods.cc >"$scratch/methods"
  sed -n 's/^    {"\([a-z-]*\)",.*/\1/p' "$scratch/methods" >"$scratch/names"
  methods=$(count <"$scratch/names")
  lossy=$(tr '\n' ' ' <"$scratch/methods" | grep -oE '[^[:alnum:]]lossy,' | count)
  fact "$methods" docs/command-line.md 'N methods'
  fact "$methods" docs/comparison.md 'N methods and'
  fact "$methods" CHANGELOG.md 'N methods:'
  fact "$((methods - lossy))" docs/command-line.md "N preserve the target's"
  fact "$((methods - lossy))" docs/comparison.md 'the N methods marked so'
  fact "$lossy" docs/command-line.md 'and N change it on purpose'
  rows docs/methods/README.md '| method | drafts |' | same docs/methods/README.md 'methods'

  # Plans.
  sed -n 's/^    {\.name = "\([^"]*\)",.*/\1/p' spectr/transport/plans.cc >"$scratch/names"
  fact "$(count <"$scratch/names")" docs/command-line.md '\[N plans'
  fact "$(count <"$scratch/names")" docs/comparison.md 'and N plans'
  rows docs/plans.md '| plan | k | drafts |' | same docs/plans.md 'plans'

  # Operations of a pass: those that every backend has, and those for trained drafters, which have a default.
  sed -n '/^class Ops /,/^};/p' spectr/nn/ops.h | sed -n '/virtual void begin(/,/finish()/p' |
    grep -E '^  virtual (void|std::size_t) ' | grep -v ' begin(' >"$scratch/operations"
  fact "$(count <"$scratch/operations")" ARCHITECTURE.md 'N operations on named buffers'
  fact "$(grep -vc '= 0;' "$scratch/operations")" ARCHITECTURE.md 'buffers, N of which only trained drafters need'

  # Chat templates, levels of kernels, experiments.
  fact "$(grep -cE '^    \{"[a-z0-9._-]+",' spectr/text/chat/chat_form_table.h)" CHANGELOG.md 'N templates by'
  grep -oE 'enum class KernelLevel \{[^}]*\}' spectr/backend/cpu/kernel_level.h | sed 's/.*{//; s/}//' | tr ',' '\n' >"$scratch/levels"
  rows docs/kernels.md '| level | quants × activations |' | count >"$scratch/rows"
  [ "$(count <"$scratch/levels")" = "$(cat "$scratch/rows")" ] ||
    echo "docs/kernels.md: $(cat "$scratch/rows") levels, but the code has $(count <"$scratch/levels")"
  fact "$(sed -n '/^constexpr auto rules/,/^});/p' lab/experiment.cc | tr '\n' ' ' | grep -oE '\{"[^"]*", +"[^"]*", +"[^"]*"' | sed 's/.*"\([^"]*\)"$/\1/' |
    grep -vcE '^(SpecTr|Yin|MTAD)')" docs/reproduction.md 'N experiments do not belong to a paper'

  # Constants of auto.
  constant() { sed -n "s/.* $1 = \([0-9]*\)\(\.0\)\{0,1\};.*/\1/p" "spectr/decode/$2"; }
  fact "$(constant max_length ngram.h)" docs/methods/auto.md "up to N tokens from the text's own"
  fact "$(constant max_order ngram.h)" docs/methods/auto.md 'matches of 1 to N tokens'
  fact "$(constant look_positions auto/auto_params.h)" docs/methods/auto.md 'of its last N tokens'
  fact "$(constant look_positions auto/auto_params.h)" docs/methods/auto.md 'first look comes after N blocks'
  fact "$(constant memory auto/auto_params.h)" docs/methods/auto.md 'compared until N positions are known'
  fact "$(constant min_regret auto/auto_params.h)" docs/methods/auto.md 'the time of N tokens'

  # Files.
  fact "$(count <data/stories.jsonl)" data/README.md 'N openings of stories'
  fact "$(count <data/endings.jsonl)" data/README.md 'N whole stories'
  fact "$(count <data/contexts.jsonl)" data/README.md 'N contexts of up to'
  fact "$(count <data/contexts.jsonl)" docs/benchmarks.md 'contexts are N bundled'
  fact "$(find models -name '*-draft-*.gguf' | sed 's/.*-draft-\([0-9.]*m\)-.*/\1/' | sort -u | count)" models/README.md 'and N smaller drafts'
  fact "$(($(sed -n 's/.*FNR == \([0-9]*\) .*/\1/p' tests/house/files_are_short.sh) - 1))" CONTRIBUTING.md 'limits them to N lines'
  fact "$(sed -n 's/.*\$2 > \([0-9]*\) .*/\1/p' tests/docs/sentences_are_short.sh)" CONTRIBUTING.md 'more than N words'
  sed -n "s/.*known+*='\([^']*\)'.*/\1/p" .ci/run | tr ' ' '\n' | grep . >"$scratch/names"
  rows CONTRIBUTING.md '| job |' | same CONTRIBUTING.md 'jobs'
} | { ! grep .; }
