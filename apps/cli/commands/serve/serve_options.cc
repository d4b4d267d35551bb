#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "apps/cli/commands/serve/serve_flags.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/spec_type.h"
#include "apps/cli/report/progress.h"
#include "spectr/decode/costs/best_shape.h"
#include "spectr/gguf/mapped_file.h"

namespace spectr::cli {
namespace {

/// Throws Failure if the default method is unavailable; otherwise every request would report it.
void check_method(const MethodFlags& flags, const MethodRule& rule, std::size_t draft_models) {
  check_drafts(rule, draft_models);
  MethodOptions settings = flags.request.settings();
  check_settings(rule, flags.request, settings);
  tell_bias(rule, settings);
  if (rule.reads(Setting::costs)) return;
  if (leaves_shape_open(rule, flags.request)) {  // costs choose K and L; check the minimum
    settings.drafts = flags.request.drafts.value_or(1);
    settings.length = flags.request.length.value_or(1);
  }
  const std::size_t max_nodes = server::max_nodes;
  need(check_block(need(make_decoder(rule, settings)), max_nodes, max_nodes));
}

}  // namespace

server::LogFormat ServeFlags::log_as() const {
  return log_format == "json" ? server::LogFormat::json : server::LogFormat::text;
}

server::ServiceOptions service_options(ServeFlags& flags) {
  server::ServiceOptions options;
  flags.model.choose_bundled();
  const bool embeds = flags.embeddings.embeds || flags.embeddings.ranks;
  choose_speculation(flags.model, flags.method, !embeds);  // one or the other reads the target's states
  const CostFile costs({.path = flags.method.cost_file,
                        .tell = [](const std::string& line) { spdlog::info("{}", line); },
                        .progress = measuring_bar(),
                        .tells_hash = true});
  options.defaults = {flags.sampling.given_options(),
                      flags.predict < 0 ? std::nullopt : std::optional<std::size_t>(flags.predict),
                      flags.method.request,
                      flags.seed < 0 ? std::nullopt : std::optional<std::uint64_t>(flags.seed)};
  const MethodRule& rule = flags.method.rule(flags.model.drafts.size());
  check_method(flags.method, rule, flags.model.drafts.size());
  EngineOptions& engine = options.engine;
  engine = engine_options(flags.model, rule, costs);
  engine.models.drafts = flags.model.model_options().drafts;  // requests may select them
  engine.models.chat = flags.chat_template.read();
  engine.models.load.embeds = embeds;
  options.embeddings = flags.embeddings.options();
  engine.measures_on_demand = false;  // it would disturb other requests
  engine.slots = {
      .slots = static_cast<std::size_t>(flags.slots),
      .queue = static_cast<std::size_t>(flags.queue),
      .max_rows = static_cast<std::size_t>(flags.max_rows),
      .prefix_bytes = flags.cache_ram < 0 ? SIZE_MAX : static_cast<std::size_t>(flags.cache_ram) << 20};
  options.slot_files = flags.slot_files;
  options.timeout = std::chrono::seconds(flags.timeout);
  options.aliases = entries_of(flags.aliases);
  options.defaults.splits_reasoning = engine.models.chat.splits_reasoning;
  options.defaults.reasoning_limit = flags.chat_template.reasoning_limit();
  options.defaults.suffix_first = flags.suffix_first;
  // Fail before clients are told that models are loading.
  for (const std::string& file : flags.model.drafts) need(MappedFile::open(file));
  need(MappedFile::open(flags.model.model));
  return options;
}

server::ServerOptions server_options(ServeFlags& flags) {
  server::ServerOptions options = std::move(flags.server);
  // The parser ignores an empty variable, which would leave the server without a key.
  if (const char* key = std::getenv("LLAMA_API_KEY"); flags.keys.empty() && key != nullptr && *key == '\0')
    throw Failure(Status::usage, "LLAMA_API_KEY: the key is empty");
  for (const std::string& key : flags.keys) {
    if (const auto added = options.keys.add_list(key); !added)
      throw Failure(Status::usage, "--api-key: " + added.error().message);
  }
  if (!flags.key_file.empty()) need(options.keys.add_file(flags.key_file));
  if (flags.http_threads > 0) options.http.threads = static_cast<std::size_t>(flags.http_threads);
  options.log = flags.log_as();
  options.cors = entries_of(flags.origins);
  options.limits = {.max_loaded = static_cast<std::size_t>(flags.max_models),
                    .loads_on_demand = flags.loads_on_demand};
  return options;
}

}  // namespace spectr::cli
