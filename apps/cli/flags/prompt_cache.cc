#include "apps/cli/flags/prompt_cache.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <limits>

namespace spectr::cli {

void PromptCache::add(CLI::App& command) {
  command.add_option("--prompt-cache", file_,
                     "FILE for keys and values of the text: a run that begins like an earlier one does not "
                     "compute that part again");
  command.add_flag("--prompt-cache-ro", is_read_only_, "leave the file of --prompt-cache as it is");
}

void PromptCache::prepare(EngineOptions& options) const {
  if (is_used()) options.slots.prefix_bytes = std::numeric_limits<std::size_t>::max();
}

void PromptCache::restore(Engine& engine) const {
  std::error_code ignored;
  if (!is_used() || !std::filesystem::exists(file_, ignored)) return;
  if (const auto restored = engine.slots().restore(0, file_); !restored)
    fmt::print(stderr, "--prompt-cache {}; the prompt is computed\n", restored.error().message);
}

void PromptCache::save(Engine& engine) const {
  if (!is_used() || is_read_only_) return;
  if (const auto saved = engine.slots().save(0, file_); !saved)
    fmt::print(stderr, "--prompt-cache {}\n", saved.error().message);
}

}  // namespace spectr::cli
