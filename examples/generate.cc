// Continues a prompt with a target and its draft model. The number of drafts is chosen by measured costs. The
// output has the target's distribution.
//   generate TARGET.gguf DRAFT.gguf [PROMPT]
#include <spectr/engine/engine.h>
#include <spectr/engine/usable_processors.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

using namespace spectr;

namespace {

void tell(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

Result<void> run(const char* target, const char* draft, const char* prompt) {
  EngineOptions options;
  options.models = {.target = target, .drafts = {draft}};
  options.models.threads = usable_processors();
  // The costs are measured in several seconds, once per machine and pair of models. The output depends on the
  // costs and the seed.
  options.cost_file = CostFile({.tell = tell});
  SPECTR_TRY(const auto engine, Engine::load(std::move(options)));

  Request request;
  request.prompts = {engine->models().tokenizer->encode(prompt)};
  request.sampling.temperature = 0.8;
  request.limit = 100;
  request.seed = 1;
  SPECTR_TRY(const auto prepared, engine->prepare(std::move(request)));

  std::printf("%s", prompt);
  const auto completion = engine->submit(prepared);
  while (const auto news = completion->next(std::chrono::minutes(1))) {
    const auto& [delta, progress, expectation, result] = news->second;
    std::printf("%s", delta.text.c_str());
    std::fflush(stdout);
    if (!result) continue;
    if (result->reason == FinishReason::failed) return std::unexpected(result->failure);
    const Statistics& counted = result->statistics;
    std::printf("\n\n%zu tokens in %zu calls of the target, %.1f a second, perplexity %.3f\n",
                counted.generated(), counted.target_calls(), counted.tokens_per_second(),
                counted.perplexity());
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: generate TARGET.gguf DRAFT.gguf [PROMPT]\n"), 2;
  const auto done = run(argv[1], argv[2], argc > 3 ? argv[3] : "Once upon a time");
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
