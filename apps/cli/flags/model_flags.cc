#include "apps/cli/flags/model_flags.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/hints.h"
#include "apps/cli/flags/rope_flags.h"
#include "apps/cli/flags/spec_type.h"
#include "apps/cli/report/progress.h"
#include "spectr/engine/bundled_models.h"
#include "spectr/engine/model_caches.h"
#include "spectr/gguf/quantize.h"
#include "spectr/text/token_frequencies.h"

namespace spectr::cli {
namespace {

std::string quantizable_names() {
  std::string names;
  for (const TensorType type : quantizable_types())
    names += (names.empty() ? "" : ", ") + lower_case(format_of(type).name);
  return names;
}

std::optional<TensorType> parse_draft_type(const std::string& name) {
  if (name == "keep") return std::nullopt;
  for (const TensorType type : quantizable_types()) {
    if (name == lower_case(format_of(type).name)) return type;
  }
  throw CLI::ValidationError("--draft-type",
                             fmt::format("must be keep, {}, got '{}'", quantizable_names(), name));
}

decltype(SlimOptions::words) parse_draft_words(const std::string& words) {
  if (words == "all") return SlimOptions::All();
  if (words == "context") return SlimOptions::Context();
  if (words.empty())
    throw CLI::ValidationError("--draft-vocab", "must be a number, a file, context or all, got ''");
  const bool is_number = words.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return std::filesystem::path(words);
  const auto count = parse_whole(words, static_cast<std::int64_t>(min_shortlist), no_limit);
  if (!count) throw CLI::ValidationError("--draft-vocab", count.error().message);
  return static_cast<std::size_t>(*count);
}

bool is_set_to(const char* variable, const std::string& value) {
  const char* found = std::getenv(variable);
  return found != nullptr && found == value;
}

}  // namespace

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return lower;
}

void ModelFlags::add_model(CLI::App& app, bool required) {
  auto* option = app.add_option("-m,--model", model, "GGUF file of the model")
                     ->envname("LLAMA_ARG_MODEL")
                     ->transform(model_file());
  if (required) {
    option->required();
  } else {
    option->description("GGUF file of the target model (default: the bundled pair of story tellers)");
  }
  // Parsed in this order, after -m.
  app.add_option("--hf-file", hub_file, "-hff FILE: with -hf, the file of the repository")
      ->envname("LLAMA_ARG_HF_FILE");
  const auto add_cached = [&](const char* name, const char* variable, auto find, const std::string& help) {
    const auto read = [this, option, name, variable, find](const std::string& given) {
      // Arguments take precedence over environment variables.
      if (!model.empty() && is_set_to(variable, given)) return;
      if (!model.empty() && !is_set_to("LLAMA_ARG_MODEL", model))
        throw Failure(Status::usage, fmt::format("{} and another model are given", name));
      model = need(find(ModelCaches::of_the_environment(), given)).string();
      option->required(false);
    };
    app.add_option_function<std::string>(name, read, help)->envname(variable)->type_name("TEXT");
  };
  add_cached(
      "--hf-repo", "LLAMA_ARG_HF_REPO",
      [this](const ModelCaches& caches, const std::string& name) { return caches.find(name, hub_file); },
      "-hf USER/REPO[:QUANT]: the model of that name in the caches of Hugging Face's tools and llama.cpp");
  add_cached(
      "--model-url", "LLAMA_ARG_MODEL_URL",
      [](const ModelCaches& caches, const std::string& url) { return caches.find_url(url); },
      "-mu URL: the model of that address in these caches; nothing is downloaded");
}

void ModelFlags::add_draft_files(CLI::App& app) {
  repeatable(app.add_option("--model-draft,--spec-draft-model", drafts,
                            "-md FILE: GGUF file of the draft model; repeatable"))
      ->envname("LLAMA_ARG_SPEC_DRAFT_MODEL")
      ->transform(file_name());
  app.add_option_function<std::string>(
         "--hf-repo-draft,--spec-draft-hf",
         [this](const std::string& name) {
           drafts.push_back(need(ModelCaches::of_the_environment().find(name)).string());
         },
         "-hfd USER/REPO[:QUANT]: the draft model, as with -hf")
      ->envname("LLAMA_ARG_SPEC_DRAFT_HF_REPO")
      ->type_name("TEXT");
}

void ModelFlags::add_drafts(CLI::App& app) {
  add_draft_files(app);
  const auto read_type = [this](const std::string& name) {
    slim.type = parse_draft_type(name);
    slim_given = true;
  };
  app.add_option_function<std::string>(
         "--draft-type", read_type,
         "what the matrices of draft models become when they are loaded (default: keep; auto tries what "
         "pays): keep, " +
             quantizable_names())
      ->type_name("TYPE");
  const auto read_words = [this](const std::string& words) {
    slim.words = parse_draft_words(words);
    slim_given = true;
  };
  app.add_option_function<std::string>("--draft-vocab", read_words,
                                       "the tokens whose logits drafts compute, in addition to those of the "
                                       "prompt and the answer (default: all; "
                                       "auto tries smaller ones for large draft models): all, context (the "
                                       "first 256 and 1/4 of the vocabulary), the first "
                                       "N, or those of a FILE written by spectr draft vocabulary")
      ->type_name("N|FILE|context|all");
}

void ModelFlags::add_suffix_corpus(CLI::App& app) {
  app.add_option("--suffix-corpus", suffix_corpus,
                 "text file, in UTF-8, from which method suffix drafts, besides the text itself")
      ->transform(file_name())
      ->group("Speculation");
}

void ModelFlags::add_threads(CLI::App& app) {
  app.add_option("-t,--threads", threads,
                 "threads to compute with, at most one per processor that may be kept busy (-1, the default)")
      ->envname("LLAMA_ARG_THREADS")
      ->transform(thread_number());
}

void ModelFlags::add_context(CLI::App& app, const std::string& help) {
  app.add_option("-c,--ctx-size", context, help + " (0: the model's context)")
      ->envname("LLAMA_ARG_CTX_SIZE")
      ->transform(whole(0, 1L << 30));
}

void ModelFlags::extend_context(Transformer& loaded) const {
  if (const auto warning = need(spectr::extend_context(loaded, static_cast<std::size_t>(context))))
    fmt::print(stderr, "{}\n", *warning);
}

void ModelFlags::add_cache_types(CLI::App& app) {
  std::vector<std::string> names;
  for (const KvTypeRule& rule : kv_type_rules) names.emplace_back(rule.name);
  const auto add = [&](const char* flags, std::string& type, const char* what, const char* variable) {
    app.add_option(flags, type,
                   std::string(what) + " (default: f32 where all matrices that make them are, else f16)")
        ->envname(variable)
        ->check(CLI::IsMember(names));
  };
  add("--cache-type-k", cache_keys, "-ctk TYPE: what keys are stored as: f32, f16 or q8_0",
      "LLAMA_ARG_CACHE_TYPE_K");
  add("--cache-type-v", cache_values, "-ctv TYPE: what values are stored as: f32, f16 or q8_0",
      "LLAMA_ARG_CACHE_TYPE_V");
  app.add_flag("--swa-full", keep_all,
               "layers with a window keep all keys and values: any end of a text can be taken back without "
               "computing the rest again")
      ->envname("LLAMA_ARG_SWA_FULL");
  add_rope_flags(app, rope);
  ranks.add(app);
  add_device_flags(app, device);
}

LoadOptions ModelFlags::load_options() const {
  return {.kv = {kv_type(cache_keys), kv_type(cache_values), keep_all},
          .draft = slim,
          .rope = rope,
          .device = device.target,
          .draft_device = device.of_drafts(),
          .sharing = ranks.sharing(thread_count()),
          .progress = loading_bar()};
}

ModelOptions ModelFlags::target_options() const {
  return {.target = model, .threads = thread_count(), .load = load_options()};
}

ModelOptions ModelFlags::model_options() const {
  ModelOptions options = target_options();
  options.drafts.assign(drafts.begin(), drafts.end());
  options.suffix_corpus = suffix_corpus;
  return options;
}

int ModelFlags::thread_count() const {
  // Extra threads would only wait for each other. Results do not depend on the number of threads.
  const int all = ranks.processors_of_each();
  return threads > 0 ? std::min(threads, all) : all;
}

void ModelFlags::choose_bundled(bool all_drafts) {
  if (!model.empty()) return;
  if (!drafts.empty()) throw Failure(Status::usage, "a draft model (-md) needs a target (-m)");
  const BundledModels models = need(bundled_models());
  model = models.target.string();
  drafts = {models.draft.string()};
  if (all_drafts) drafts.assign(models.ladder.begin(), models.ladder.end());
  bundled = true;
}

namespace {

/// Prints on standard error which of the given draft models the method does not use.
void tell_unused_drafts(const ModelFlags& flags, const MethodRule& rule, const MethodOptions& settings) {
  if (flags.bundled) return;
  const std::size_t given = flags.drafts.size();
  if (rule.models.max == 0 && given > 0)
    fmt::print(stderr, "-md is not used: method {} takes no draft model\n", rule.name);
  if (rule.models.min > 0 && rule.models.max > 1 && settings.drafts < given) {
    fmt::print(stderr, "{} of {} draft models (-md) are not used: method {} drafts K {} sequences\n",
               given - settings.drafts, given, rule.name, settings.drafts);
  }
}

/// Returns true if draft models are slimmed automatically: if the method uses costs and no flag
/// overrides it.
bool tries_slim_drafts(const ModelFlags& flags, const MethodRule& rule) {
  return !flags.slim_given && rule.reads(Setting::costs);
}

}  // namespace

LoadOptions draft_options(const ModelFlags& flags, const MethodRule& rule, const CostFile& file) {
  LoadOptions options = flags.load_options();
  return tries_slim_drafts(flags, rule) ? file.with_slim_drafts(std::move(options)) : options;
}

CostFile cost_file_of(const MethodFlags& method, bool tells_hash) {
  return CostFile({.path = method.cost_file,
                   .tell = [](const std::string& line) { fmt::print(stderr, "{}\n", line); },
                   .progress = measuring_bar(),
                   .tells_hash = tells_hash});
}

EngineOptions engine_options(const ModelFlags& flags, const MethodRule& rule, const CostFile& file) {
  EngineOptions options;
  options.models = flags.model_options();
  if (rule.models.max == 0) options.models.drafts.clear();
  options.models.context = static_cast<std::size_t>(flags.context);
  options.cost_file = file;
  options.slims_drafts = tries_slim_drafts(flags, rule);
  return options;
}

EngineOptions check_models(ModelFlags& flags, MethodFlags& method, bool verbose) {
  flags.choose_bundled();
  choose_speculation(flags, method);
  const MethodRule& rule = method.rule(flags.drafts.size());
  const MethodOptions settings = method.request.settings();
  check_settings(rule, method.request, settings);
  check_drafts(rule, flags.drafts.size());
  tell_unused_drafts(flags, rule, settings);
  if (!flags.suffix_corpus.empty() && !rule.reads(Setting::suffix_reach))
    fmt::print(stderr, "--suffix-corpus is not used: method {} does not read it\n", rule.name);
  return engine_options(flags, rule, cost_file_of(method, verbose));
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  const Gguf file = need(Gguf::open(path));
  return need(Tokenizer::load(file));
}

}  // namespace spectr::cli
