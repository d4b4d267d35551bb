#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/embedding_flags.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/output.h"

namespace spectr::cli {

void add_embed(CLI::App& app) {
  struct Flags {
    ModelFlags model;
    TextInput input;
    EmbeddingFlags embedding;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("embed", "Embedding of a text");
  flags->model.add_model(command, true);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->input.add(command, "the text to embed");
  flags->embedding.add(command);
  command.add_flag("--json", flags->json, "print {\"tokens\": [...], \"pooling\", \"embedding\": [...]}");
  command.callback([flags] {
    ModelOptions options = flags->model.target_options();
    options.load.embeds = true;
    const EngineModels models = need(EngineModels::load(options));
    const EmbeddingOptions how = flags->embedding.options();
    const Pooling pooling = need(pooling_of(models.target->spec(), how));
    const auto tokens = models.tokenizer->encode(flags->input.read_prompt(), {.add_eos = true});
    const auto vectors = need(embed(*models.target, tokens, how));
    if (flags->json) {
      const auto name = pooling_names[static_cast<std::size_t>(pooling)];
      const Json numbers = pooling == Pooling::none ? Json(vectors) : Json(vectors.front());
      print_json({{"tokens", tokens}, {"pooling", name}, {"embedding", numbers}});
    } else {
      for (const std::vector<float>& vector : vectors) fmt::print("{}\n", fmt::join(vector, " "));
    }
  });
}

}  // namespace spectr::cli
