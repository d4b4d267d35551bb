#include <algorithm>
#include <array>

#include "apps/cli/flags/help.h"

namespace spectr::cli {
namespace {

constexpr std::array pages = std::to_array<HelpPage>({
    {"", "",
     "spectr generate -p \"Once upon a time\"          # a bundled pair of models tells a story\n"
     "spectr chat -m model.gguf -md draft.gguf\n"
     "spectr serve -m model.gguf --port 8080"},
    {"generate", "-m --model-draft -p -f -n -c --temp -s --method --device --chat --json",
     "spectr generate -p \"Once upon a time\" -n 100\n"
     "spectr generate -m model.gguf -md draft.gguf --chat -p \"Why is the sky blue?\" --compare"},
    {"chat", "-m --hf-repo --model-draft -p --system-prompt -n -c --temp --reasoning --device",
     "spectr chat -m model.gguf -md draft.gguf\n"
     "spectr chat -hf USER/REPO:Q4_K_M -sys \"Answer in one sentence.\""},
    {"serve", "-m --hf-repo --model-draft --host --port --parallel -c -t --device --api-key --alias --cors",
     "spectr serve -m model.gguf -md draft.gguf --port 8080\n"
     "spectr serve -hf USER/REPO:Q4_K_M -np 8 --api-key-file keys.txt --metrics"},
    {"tokenize", "-m -p -f --special --no-bos --json",
     "spectr tokenize -m model.gguf -p \"Once upon a time\"\n"
     "spectr tokenize -m model.gguf -f text.txt --json"},
    {"detokenize", "-m --tokens --special",
     "spectr detokenize -m model.gguf --tokens 1,403\n"
     "spectr detokenize -m model.gguf --tokens 1,403 --special"},
    {"logits", "-m --tokens -c -t --json",
     "spectr logits -m model.gguf --tokens 1,403\n"
     "spectr logits -m model.gguf --tokens 1,403 --json"},
    {"embed", "-m -p -f --pooling --embd-normalize --json",
     "spectr embed -m bert.gguf -p \"A cat sat on a mat\"\n"
     "spectr embed -m bert.gguf -f text.txt --pooling mean --json"},
    {"perplexity", "-m -f -c -t --device",
     "spectr perplexity -m model.gguf -f text.txt\n"
     "spectr perplexity -m model.gguf -f text.txt -c 2048 --device auto"},
    {"inspect", "",
     "spectr inspect model.gguf\n"
     "spectr inspect -m model.gguf"},
    {"models", "",
     "spectr models\n"
     "spectr models --json"},
    {"check-pair", "-m --model-draft --measure",
     "spectr check-pair -m model.gguf -md draft.gguf\n"
     "spectr check-pair -m model.gguf -md draft.gguf --measure"},
    {"draft", "",
     "spectr draft vocabulary -m model.gguf -f texts.txt -o draft-vocabulary.txt\n"
     "spectr generate -m model.gguf -md draft.gguf --draft-vocab draft-vocabulary.txt -p \"Once\""},
    {"draft vocabulary", "-m -f -o -n",
     "spectr draft vocabulary -m model.gguf -f texts.txt -o draft-vocabulary.txt\n"
     "spectr generate -m model.gguf -md draft.gguf --draft-vocab draft-vocabulary.txt -p \"Once\""},
    {"draft logits", "-m --model-draft --tokens -L --path --block-rows --json",
     "spectr draft logits -m model.gguf -md eagle3.gguf --tokens 1,403,407\n"
     "spectr draft logits -m model.gguf -md eagle3.gguf --tokens 1,403,407 --path 5,9 --json"},
    {"draft features", "-m -f -o -n --opening --count --layers --top -t",
     "spectr draft features -m model.gguf -f texts.txt -o texts.features\n"
     "spectr draft features -m model.gguf -f prompts.jsonl --opening 48 -o texts.features"},
    {"draft train", "",
     "spectr draft train -m model.gguf --kind dflash -f texts.txt -o dflash.gguf\n"
     "spectr draft train -m model.gguf --kind eagle3 -f texts.txt -o eagle3.gguf"},
    {"law", "--method --rule --plan -K -L --vocab --horizon --seed --drafts",
     "spectr law --method spectr --plan k-seq -K 2 -L 2\n"
     "spectr law --method speculative --vocab 4 --horizon 5"},
    {"plan", "",
     "echo '{\"id\": 1, \"p\": [0.5, 0.5], \"q\": [0.25, 0.75], \"k\": 2}' | spectr plan eval --plan "
     "optimal\n"
     "spectr plan time --plan k-seq --vocab 4096 -k 4"},
    {"plan eval", "--plan --epsilon --rounds",
     "echo '{\"id\": 1, \"p\": [0.5, 0.5], \"q\": [0.25, 0.75], \"k\": 2}' | spectr plan eval --plan "
     "optimal\n"
     "spectr plan eval --plan k-seq <cases.jsonl"},
    {"plan sample", "--plan --draws --seed",
     "echo '{\"id\": 1, \"p\": [0.5, 0.5], \"q\": [0.25, 0.75], \"k\": 2}' | spectr plan sample --plan "
     "optimal\n"
     "spectr plan sample --plan k-seq --draws 10000 --seed 1 <cases.jsonl"},
    {"plan time", "--plan --vocab -k --laws --seed",
     "spectr plan time --plan k-seq --vocab 4096 -k 4\n"
     "spectr plan time --vocab 1000 -k 2 --laws language"},
    {"bench", "",
     "spectr bench methods --method speculative,spectr -K 2,4 --count 4 -n 32\n"
     "spectr bench pp tg -m model.gguf -p 64 -n 16"},
    {"bench methods", "-m --model-draft --method --plan -K -L --preset --prompts --count -n --temp --json",
     "spectr bench methods --method speculative,spectr -K 2,4 --count 4 -n 32\n"
     "spectr bench methods --list-presets"},
    {"bench tune", "-m --model-draft --method --plan -K -L --prompts --count -n --objective --write",
     "spectr bench tune --method speculative,spectr -K 2,4 --count 4 -n 32\n"
     "spectr bench tune -m model.gguf -md draft.gguf --method mtad --beams 2,8 --write column.json"},
    {"bench widths", "-m --widths --depths --rounds --preset -t --device --json",
     "spectr bench widths -m model.gguf\n"
     "spectr bench widths -m model.gguf --widths 1,2,4,8,16 --device auto"},
    {"bench pp", "-m -p -d -r -t --device --json",
     "spectr bench pp tg -m model.gguf -p 64 -n 16\n"
     "spectr bench pp -m model.gguf --json"},
    {"bench tg", "-m -n -d -r -t --device --json",
     "spectr bench pp tg -m model.gguf -p 64 -n 16\n"
     "spectr bench tg -m model.gguf --json"},
    {"bench select", "--plan --method -V -K -L --seed --json --csv",
     "spectr bench select --plan maximal,k-seq -V 40,4096 -K 2,4\n"
     "spectr bench select --method block,conditional -V 4096 -K 4 -L 4\n"
     "spectr bench select --json"},
    {"bench divergence", "-m --reference -f -n -t --device --json",
     "spectr bench divergence -m model-q4.gguf --reference model-f32.gguf\n"
     "spectr bench divergence -m model-q4.gguf --reference model-f32.gguf -f texts.txt --json"},
    {"bench cluster", "-m --widths --depth --rounds --ranks --shard -t --json",
     "spectr bench cluster -m model.gguf --ranks 2\n"
     "mpirun -n 2 spectr bench cluster -m model.gguf --shard"},
    {"lab", "",
     "spectr lab list\n"
     "spectr lab run spectr-bernoulli --out pictures"},
    {"lab run", "name --out --quick --runs --seed -m --model-draft -t",
     "spectr lab run spectr-bernoulli --out pictures\n"
     "spectr lab run all --quick --out pictures"},
});

}  // namespace

const HelpPage* help_page(std::string_view command) {
  const auto* const found = std::ranges::find(pages, command, &HelpPage::command);
  return found == pages.end() ? nullptr : found;
}

}  // namespace spectr::cli
