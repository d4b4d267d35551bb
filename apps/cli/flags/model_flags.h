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

/// -m, -md, -t, -c as they were given, with the files that -hf and --model-url stand for.
struct ModelFlags {
  std::string model;  ///< empty: the bundled pair
  std::vector<std::string> drafts;
  int threads = -1;                      ///< -1: one per processor that may be used
  long context = 0;                      ///< 0: the model's
  std::string cache_keys, cache_values;  ///< "f32" or "f16"; empty: as Transformer::load has it
  bool keep_all = false;                 ///< keys and values of layers with a window
  RopeChoice rope;                       ///< of positions, in all models
  SlimOptions slim;                      ///< of the draft models
  bool slim_given = false;               ///< what they become was said
  bool bundled = false;                  ///< the models are those of the bundled pair
  RankFlags ranks;                       ///< who computes the target
  std::string hub_file;                  ///< which of a repository's files is meant
  DeviceChoice device;                   ///< where models are computed
  std::string suffix_corpus;             ///< a text that method suffix drafts from; empty: none

  void add_model(CLI::App& app, bool required);
  void add_draft_files(CLI::App& app);
  /// The same, and how they are made small.
  void add_drafts(CLI::App& app);
  /// --suffix-corpus.
  void add_suffix_corpus(CLI::App& app);
  void add_threads(CLI::App& app);
  /// Whether -md names a trained drafter, which methods that go by costs cannot use. Throws Failure.
  bool has_trained_drafter() const;
  /// Lets the model have the context that is asked for; tells where it was trained for less. Throws Failure.
  void extend_context(Transformer& loaded) const;
  void add_context(CLI::App& app, const std::string& help = "tokens that prompt and text may have together");

  /// -ctk and -ctv, --swa-full, how positions turn, and who computes, and where.
  void add_cache_types(CLI::App& app);
  /// What these chose.
  LoadOptions load_options() const;
  /// The target alone, with its own context, and how it is loaded.
  ModelOptions target_options() const;
  /// The same with all draft models.
  ModelOptions model_options() const;

  int thread_count() const;
  /// The bundled pair where no model was given, or its target with all bundled drafts, from small to large.
  /// Throws Failure where it is missing, or where a draft was given without a target.
  void choose_bundled(bool all_drafts = false);
};

/// A name in small letters, as flags have those of formats.
std::string lower_case(std::string_view name);

/// How draft models are loaded for a method: as small as pays where the method goes by costs, which `file`
/// knows, and nobody said otherwise.
LoadOptions draft_options(const ModelFlags& flags, const MethodRule& rule, const CostFile& file);

/// The file of --cost-file, or the default one; it tells on standard error what it measures.
CostFile cost_file_of(const MethodFlags& method, bool tells_hash);

/// Returns the options of an engine for the models of the flags, with the costs that `file` keeps. Draft
/// models that the method cannot use are left out.
EngineOptions engine_options(const ModelFlags& flags, const MethodRule& rule, const CostFile& file);

/// Chooses the models, checks what can be checked before they are loaded, and returns the options of an
/// engine that decodes one sequence at a time. Tells on standard error which settings and draft models the
/// method does not use. Throws Failure.
EngineOptions check_models(ModelFlags& flags, const MethodFlags& method, bool verbose);

/// The tokenizer alone (vocabulary-only files will do).
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

}  // namespace spectr::cli
