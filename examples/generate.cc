// A text by a target and its draft model, with as many drafts as pay on this machine. Its distribution is the
// target's.
//   generate TARGET.gguf DRAFT.gguf [PROMPT]
#include <spectr/base/counter_random.h>
#include <spectr/decode/auto/measure_costs.h>
#include <spectr/decode/generate.h>
#include <spectr/decode/methods.h>
#include <spectr/engine/loaded_model.h>
#include <spectr/text/text_stream.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace spectr;

namespace {

Result<void> run(const char* target_path, const char* draft_path, const char* prompt) {
  ThreadPool pool(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  SPECTR_TRY(const LoadedModel target, load_model(target_path, pool));
  const Vocabulary& vocabulary = target.tokenizer->vocabulary();
  SPECTR_TRY(const LoadedModel draft, load_draft(draft_path, *target.transformer, *target.tokenizer, pool));

  // Takes seconds, once for these models on this machine: worth keeping, as the seed and they fix the text.
  const LanguageModel* const drafts[] = {draft.transformer.get()};
  SPECTR_TRY(const MeasuredCosts measured, measure_costs(*target.transformer, drafts));
  if (measured.disturbed()) std::fprintf(stderr, "the machine was busy: the costs may be wrong\n");

  SPECTR_TRY(const MethodRule* method, find_method("auto"));
  SPECTR_TRY(Decoder decoder, make_decoder(*method, {.costs = std::make_shared<Costs>(measured.costs)}));
  SPECTR_TRY(const Warp warp, Warp::make({.temperature = 0.8}));
  const std::size_t context = target.transformer->context();
  SPECTR_TRY(Models models,
             Models::start(*target.transformer, drafts, warp, context, decoder.max_nodes(context)));

  TextStream stream(*target.tokenizer, TextStream::Start::continuation);
  const auto show = [&](const Block& block) -> std::optional<std::size_t> {
    for (const Token token : block.tokens) std::printf("%s", stream.push(token).c_str());
    std::fflush(stdout);
    return std::nullopt;  // go on
  };
  std::printf("%s", prompt);
  const std::vector<Token> tokens = target.tokenizer->encode(prompt);
  const GenerateOptions options = {.limit = 100, .ends = vocabulary.ends()};
  CounterRandom choices(/*seed=*/1);
  SPECTR_TRY(const Generation text, generate(decoder, models, tokens, options, choices, show));
  const Statistics& counted = text.statistics;
  std::printf("%s\n\n%zu tokens in %zu calls of the target, %.1f a second, perplexity %.3f\n",
              stream.finish().c_str(), counted.generated(), counted.target_calls(),
              counted.tokens_per_second(), counted.perplexity());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: generate TARGET.gguf DRAFT.gguf [PROMPT]\n"), 2;
  const auto done = run(argv[1], argv[2], argc > 3 ? argv[3] : "Once upon a time");
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
