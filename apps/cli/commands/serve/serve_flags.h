#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/cli/flags/embedding_flags.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/sampling_flags.h"
#include "apps/cli/flags/template_flags.h"
#include "apps/server/server.h"

namespace spectr::cli {

/// Values of the flags of `spectr serve`.
struct ServeFlags {
  ModelFlags model;
  SamplingFlags sampling;
  server::ServerOptions server;
  long slots = 4;
  long queue = 64;
  long max_rows = 0;
  long cache_ram = 2048;
  std::string slot_files;
  long timeout = 600;
  long drain_notice = 0;
  long drain_timeout = 30;
  std::vector<std::string> keys, aliases, origins;
  std::string key_file;
  MethodFlags method;
  long predict = -1;
  long seed = -1;
  long http_threads = -1;
  std::string log_format = "text";
  TemplateFlags chat_template;
  bool suffix_first = false;
  EmbeddingFlags embeddings;
  bool verbose = false;
  std::string models_folder, models_preset;  ///< sources of several models
  long max_models = 4;
  bool loads_on_demand = true;

  /// Adds the flags to a command.
  void add(CLI::App& command);
  /// Returns true if several models are served.
  bool several() const { return !models_folder.empty() || !models_preset.empty(); }
  server::LogFormat log_as() const;
};

/// The help group of flags that concern the server and none of its models.
inline constexpr const char* network_group = "Network";
/// The help group of flags for several models.
inline constexpr const char* models_group = "Several models";

/// Returns the options of one model, which is the bundled one if the flags name none. Throws Failure.
server::ServiceOptions service_options(ServeFlags& flags);

/// Returns the options of the server except for its models. Throws Failure.
server::ServerOptions server_options(ServeFlags& flags);

}  // namespace spectr::cli
