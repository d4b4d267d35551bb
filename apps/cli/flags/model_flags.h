#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/flags/device_flags.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/rank_flags.h"
#include "spectr/decode/methods.h"
#include "spectr/engine/costs/cost_file.h"
#include "spectr/engine/engine.h"

namespace spectr::cli {

/// The values of -m, -md, -t, -c, with the files that -hf and --model-url resolve to.
struct ModelFlags {
  std::string model;  ///< empty: the bundled pair
  std::vector<std::string> drafts;
  int threads = -1;                      ///< -1: one per usable processor
  long context = 0;                      ///< 0: the model's default
  std::string cache_keys, cache_values;  ///< "f32" or "f16"; empty: default of Transformer::load
  bool keep_all = false;                 ///< keep keys and values outside the window of window layers
  RopeChoice rope;                       ///< RoPE of all models
  SlimOptions slim;                      ///< of draft models
  bool slim_given = false;               ///< `slim` was given explicitly
  bool bundled = false;                  ///< the models are the bundled pair
  RankFlags ranks;                       ///< processes that compute the target
  std::string hub_file;                  ///< selects a file of a repository
  DeviceChoice device;                   ///< devices that run the models
  std::string suffix_corpus;             ///< text from which method suffix drafts; empty: none
  std::vector<std::string> spec_types;   ///< the values of --spec-type; see choose_speculation()

  void add_model(CLI::App& app, bool required);
  void add_draft_files(CLI::App& app);
  /// Adds -md and the flags that slim draft models.
  void add_drafts(CLI::App& app);
  /// Adds --suffix-corpus.
  void add_suffix_corpus(CLI::App& app);
  void add_threads(CLI::App& app);
  /// Extends the model's context to the requested one, with a notice if it exceeds training. Throws Failure.
  void extend_context(Transformer& loaded) const;
  void add_context(CLI::App& app, const std::string& help = "tokens that prompt and text may have together");

  /// Adds -ctk and -ctv, --swa-full, and the flags for RoPE, ranks and devices.
  void add_cache_types(CLI::App& app);
  /// Returns the load options that these flags select.
  LoadOptions load_options() const;
  /// Returns the options of the target alone, with its own context.
  ModelOptions target_options() const;
  /// Returns the options of the target and all draft models.
  ModelOptions model_options() const;

  int thread_count() const;
  /// Selects the bundled pair, or its target with all bundled drafts in ascending size, if no model was
  /// given. Throws Failure if it is missing or a draft was given without a target.
  void choose_bundled(bool all_drafts = false);
};

/// Converts a name to lower case, which flags use for formats.
std::string lower_case(std::string_view name);

/// Returns the load options of draft models for a method. They are slimmed automatically if the method uses
/// the costs in `file` and no flag overrides it.
LoadOptions draft_options(const ModelFlags& flags, const MethodRule& rule, const CostFile& file);

/// Opens the file of --cost-file or the default one. It prints measurements on standard error.
CostFile cost_file_of(const MethodFlags& method, bool tells_hash);

/// Returns the options of an engine for the given models, with the costs in `file`. Draft models that the
/// method cannot use are left out.
EngineOptions engine_options(const ModelFlags& flags, const MethodRule& rule, const CostFile& file);

/// Selects the models and, by --spec-type, the method. Checks what can be checked before they are loaded, and
/// returns the options of an engine that decodes one sequence at a time. Prints on standard error which
/// settings and draft models the method does not use. Throws Failure.
EngineOptions check_models(ModelFlags& flags, MethodFlags& method, bool verbose);

/// Loads the tokenizer alone. Vocabulary-only files suffice.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

}  // namespace spectr::cli
