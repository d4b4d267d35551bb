// Continues a prompt with a target and its draft model. The number of drafts is chosen by measured costs. The
// output has the target's distribution.
//   generate TARGET.gguf DRAFT.gguf [PROMPT]
#include <spectr/engine.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

int main(int argc, char** argv) try {
  if (argc < 3) return std::fprintf(stderr, "usage: generate TARGET.gguf DRAFT.gguf [PROMPT]\n"), 2;
  // The costs are measured in several seconds, once per machine and pair of models. The output depends on the
  // costs and the seed.
  auto engine =
      spectr::Engine::load(
          {.model = argv[1],
           .drafts = {argv[2]},
           .measure_costs = true,
           .log = [](std::string_view line) { std::fprintf(stderr, "%s\n", std::string(line).c_str()); }})
          .value();

  const std::string prompt = argc > 3 ? argv[3] : "Once upon a time";
  auto completion = engine.submit({.prompt = prompt, .max_tokens = 100, .seed = 1}).value();
  std::printf("%s", prompt.c_str());
  while (const auto event = completion.next(std::chrono::minutes(1)).value()) {
    std::printf("%.*s", static_cast<int>(event->text.size()), event->text.data());
    std::fflush(stdout);
  }
  std::printf("\n\n%s\n", completion.statistics().c_str());
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
