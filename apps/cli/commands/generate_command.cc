#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/constraint_flags.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/prompt_cache.h"
#include "apps/cli/flags/sampling_flags.h"
#include "apps/cli/flags/spec_type.h"
#include "apps/cli/flags/template_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/report/generation_report.h"
#include "apps/cli/report/output.h"
#include "apps/cli/report/profile_report.h"
#include "apps/cli/report/text_printer.h"
#include "apps/support/random_seed.h"
#include "spectr/engine/engine.h"

namespace spectr::cli {
namespace {

struct GenerateFlags {
  ModelFlags model;
  TextInput input;
  MethodFlags method;
  SamplingFlags sampling;
  long predict = 256;
  long seed = -1;
  PromptCache prompt_cache;
  std::vector<std::string> stop_words;
  std::optional<std::string> tokens;
  bool special = false;
  bool chat = false;
  std::string system;
  TemplateFlags chat_template;
  ConstraintFlags constraint;
  bool ignore_eos = false;
  bool json = false;
  bool compare = false;
  bool show = false;
  bool verbose = false;
  bool profile = false;
  bool no_display_prompt = false;
};

/// A completion with everything that its report needs.
struct Generated {
  Generation generation;
  std::string text;
  CompletionResult result;
  std::string_view stop;  ///< stop reason
};

/// One run of the command.
class GenerateRun {
 public:
  explicit GenerateRun(GenerateFlags flags) : flags_(std::move(flags)) {}

  void execute() {
    check_flags();
    std::string text = flags_.tokens ? "" : flags_.input.read_prompt();
    load();
    Request request = request_for(text);
    if (flags_.tokens) text = tokenizer().decode(request.prompts.front(), flags_.special);
    const auto prepared = need(engine_->prepare(std::move(request)));
    const DecodingSettings& decoding = prepared->decoding;

    TextPrinter printer(printing());
    if (!flags_.no_display_prompt) printer.print_prompt(text);
    const Generated generated = complete(prepared, &printer);
    printer.finish();
    flags_.prompt_cache.save(*engine_);
    const auto profile = flags_.profile ? std::optional(profile_report()) : std::nullopt;
    std::optional<Generation> baseline;
    if (flags_.compare && !interrupted_) baseline = decode_plainly(prepared->request);

    const std::vector<double>& load_seconds = engine_->models().load_seconds;
    const bool reads_costs = decoding.method->reads(Setting::costs);
    const GenerationReport report{*decoding.method,
                                  generated.result.shape,
                                  decoding.options.plan.value_or(std::string(decoding.method->plan)),
                                  generated.generation,
                                  generated.stop,
                                  generated.text,
                                  prepared->request.seed,
                                  reads_costs ? std::optional(decoding.options.costs->hash()) : std::nullopt,
                                  decoding.load,
                                  std::accumulate(load_seconds.begin(), load_seconds.end(), 0.0),
                                  std::move(baseline)};
    if (flags_.json) {
      Json object = report.json();
      if (profile) object["profile"] = profile->json();
      print_json(object);
    } else {
      report.print(stderr, flags_.verbose);
      if (profile) profile->print(stderr);
    }
    if (interrupted_) end_interrupted();
    if (reads_costs) need(engine_->keep(generated.result));
  }

 private:
  void check_flags() const {
    if (!flags_.chat && !flags_.system.empty())
      throw Failure(Status::usage, "--system-prompt goes with --chat");
    if (flags_.tokens && (flags_.input.text || flags_.input.file || flags_.chat))
      throw Failure(Status::usage, "--tokens is the prompt: it goes without -p, -f and --chat");
    if (flags_.profile && flags_.model.device.any())
      throw Failure(Status::usage, "--profile tells the processor's operations apart, not a device's");
  }

  /// Checks what can be checked without models, then loads them.
  void load() {
    warp_ = flags_.sampling.warp().options();
    EngineOptions options = check_models(flags_.model, flags_.method, flags_.verbose);
    options.profile = flags_.profile;
    options.models.chat = flags_.chat_template.read();
    flags_.prompt_cache.prepare(options);
    engine_ = need(Engine::load(std::move(options)));
    flags_.prompt_cache.restore(*engine_);
    for (const std::string& warning : engine_->models().warnings) fmt::print(stderr, "{}\n", warning);
    if (flags_.verbose) describe_models();
  }

  Request request_for(const std::string& text) const {
    Request request;
    request.method = flags_.method.request;
    request.sampling = warp_;
    if (flags_.predict >= 0) request.limit = static_cast<std::size_t>(flags_.predict);
    request.stop_words = flags_.stop_words;
    request.ignore_eos = flags_.ignore_eos;
    request.seed = flags_.seed < 0 ? random_seed() : static_cast<std::uint64_t>(flags_.seed);
    request.cache_prompt = flags_.prompt_cache.is_used();
    request.constraint = flags_.constraint.read();
    if (flags_.tokens) {
      request.prompts = {parse_tokens(*flags_.tokens, engine_->models().target->vocabulary())};
    } else if (flags_.chat) {
      const MarkedText prompt = chat_prompt(text);
      request.prompts = {tokenizer().encode(prompt, true)};
      const ReasoningSplit split = reasoning_split(prompt, engine_->models());
      if (engine_->models().splits_reasoning && printing() == Printing::text) request.reasoning = split;
      if (const auto limit = flags_.chat_template.reasoning_limit())
        request.limited_reasoning = {*limit, split};
      if (request.constraint) request.constraint->after = content_mark(*split.form, split.begun);
    } else {
      request.prompts = {tokenizer().encode(text, {.parse_special = flags_.special})};
      if (!flags_.special && request.prompts.front() != tokenizer().encode(text, {.parse_special = true})) {
        fmt::print(stderr,
                   "the prompt holds the names of control tokens, as text: --special makes them tokens\n");
      }
    }
    return request;
  }

  /// Renders a user message with the model's chat template.
  MarkedText chat_prompt(const std::string& said) const {
    const Result<ChatTemplate>& chat_template = engine_->models().chat_template;
    if (!chat_template) throw Failure(Status::usage, chat_template.error().message);
    ChatTemplate::Conversation conversation;
    if (!flags_.system.empty()) conversation.messages.push_back(ChatMessage::of("system", flags_.system));
    conversation.messages.push_back(ChatMessage::of("user", said));
    return need(chat_template->render(conversation));
  }

  const Tokenizer& tokenizer() const { return *engine_->models().tokenizer; }

  Printing printing() const {
    if (flags_.json) return Printing::nothing;
    return flags_.show ? Printing::sources : Printing::text;
  }

  /// Generates the completion and prints it if there is a printer. After the first block, an interrupt ends
  /// the completion; before that, it ends the program.
  Generated complete(const std::shared_ptr<const PreparedRequest>& request, TextPrinter* printer) {
    Generated out;
    std::optional<Interrupt> interrupt;
    std::atomic<bool> interruptible = false;  // `interrupt` has a value
    // Events are handled in the engine's thread: a separate thread would compete with the passes.
    const auto completion = engine_->submit(request, [&](Completion& news) {
      const auto [delta, progress, expectation, result] = news.take(0);
      if (!interrupt && !delta.tokens.empty()) {
        interrupt.emplace();
        interruptible = true;
      }
      if (printer != nullptr && flags_.verbose && expectation) describe_choice(*expectation);
      if (printer != nullptr) printer->print(delta);
      out.text += delta.text;
      for (const TokenReport& token : delta.tokens) {
        out.generation.tokens.push_back(token.token);
        out.generation.sources.push_back(token.source);
      }
      if (result) out.result = *result;
    });
    while (!completion->wait(std::chrono::milliseconds(50))) {
      if (interruptible && interrupt->came()) completion->cancel();
    }
    if (out.result.reason == FinishReason::failed) throw Failure(out.result.failure);
    interrupted_ = out.result.reason == FinishReason::cancelled;
    out.stop = interrupted_ ? "interrupt" : name(out.result.reason);
    out.generation.statistics = out.result.statistics;
    return out;
  }

  /// Generates the completion by plain decoding for comparison; none if it was interrupted.
  std::optional<Generation> decode_plainly(Request request) {
    request.method = {.method = "plain"};
    request.reasoning = {};
    Generation plain = complete(need(engine_->prepare(std::move(request))), nullptr).generation;
    return interrupted_ ? std::nullopt : std::optional(std::move(plain));
  }

  void describe_models() const {
    const EngineModels& models = engine_->models();
    const auto line = [](const char* role, const Transformer& model, double seconds) {
      const ModelSpec& spec = model.spec();
      fmt::print(stderr,
                 "{}: {}, vocabulary {}, {} layers of width {}, context {}, weights of {:.1f} MB, loaded in "
                 "{:.2f} s\n",
                 role, spec.name, spec.vocabulary, spec.layers.size(), spec.width, spec.context,
                 static_cast<double>(model.weight_bytes()) * 1e-6, seconds);
    };
    line("target", *models.target, models.load_seconds.front());
    for (std::size_t i = 0; i < models.drafts.size(); ++i)
      line("draft", *models.drafts[i], models.load_seconds[i + 1]);
    if (models.trained) {
      const DrafterSpec& drafter = models.trained->spec();
      fmt::print(stderr, "drafter: {}, {}, {} states of the target\n", drafter.model.name, drafter.kind,
                 drafter.taps.size());
    }
    fmt::print(stderr, "threads: {}\n", models.pool->threads());
  }

  /// Prints an automatic choice and its expectation whenever the choice changes.
  void describe_choice(const Expectation& why) {
    const DraftShape shape = why.shape;
    std::string what = "plain decoding";
    if (why.model) {
      const EngineModels& models = engine_->models();
      what = fmt::format("K {}, L {}", shape.drafts, shape.length);
      if (models.draft_count() > 1) what += fmt::format(" by {}", models.draft_name(*why.model));
    } else if (shape.length > 0) {
      what = fmt::format("L {} from the text itself", shape.length);
    }
    if (why.probe) what += ", after a look at a draft model";
    if (what == choice_) return;
    choice_ = what;
    fmt::print(stderr,
               "\n[{}: {:.2f} tokens in {:.2f} ms expected, {:.2f} ms each; {:.2f} ms by plain decoding]\n",
               what, why.tokens, 1e3 * why.seconds, 1e3 * why.seconds / why.tokens, 1e3 * why.plain_seconds);
  }

  ProfileReport profile_report() const {
    const EngineModels& engine = engine_->models();
    std::vector<ProfileReport::Model> models;
    for (const PassProfile& profile : engine_->profiles()) {
      const std::size_t before = models.size();
      const Transformer& model = before == 0 ? *engine.target : *engine.drafts[before - 1];
      models.push_back({before == 0 ? "target" : "draft", model.spec().name, profile});
    }
    return {std::move(models), *engine.pool};
  }

  GenerateFlags flags_;
  WarpOptions warp_;
  std::unique_ptr<Engine> engine_;
  bool interrupted_ = false;
  std::string choice_;  // the last choice that was printed
};

}  // namespace

void add_generate(CLI::App& app) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App& command = *app.add_subcommand("generate", "Continue a text");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->model.add_context(command);
  flags->prompt_cache.add(command);
  flags->input.add(command, "the text to continue");
  command.add_option("--tokens", flags->tokens, "the prompt as ids, separated by commas, as they are");
  command
      .add_option("-n,--predict,--n-predict", flags->predict,
                  "tokens to generate; -1: until the text or context ends")
      ->envname("LLAMA_ARG_N_PREDICT")
      ->transform(whole(-1))
      ->capture_default_str();
  command.add_option("-s,--seed", flags->seed, "same seed, same text; -1: random, and printed")
      ->transform(whole(-1))
      ->capture_default_str();
  repeatable(
      command.add_option("-r,--reverse-prompt", flags->stop_words, "stop before this word; repeatable"));
  command.add_flag("--special", flags->special, "recognise special tokens in the prompt");
  command.add_flag("--chat", flags->chat, "the prompt is what a user says: render it by the chat template");
  command.add_option("--system-prompt", flags->system,
                     "-sys TEXT: with --chat, what the model is told first");
  flags->chat_template.add(command);
  flags->constraint.add(command);
  command.add_flag("--ignore-eos", flags->ignore_eos, "go on after end-of-text tokens");
  command.add_flag("--no-conversation")
      ->description("-no-cnv: changes nothing; spectr chat is the conversation");
  flags->method.add(command);
  flags->method.add_cost_file(command);
  flags->model.add_suffix_corpus(command);
  add_spec_type(command, flags->model.spec_types);
  flags->sampling.add(command);
  flags->sampling.add_samplers(command);
  const std::string output = "Output";
  command.add_flag("--json", flags->json, "print one JSON object: text, tokens, sources, statistics")
      ->group(output);
  command.add_flag("--compare", flags->compare, "also decode plainly and print the speed-up")->group(output);
  command.add_flag("--show", flags->show, "colour the text by where its tokens came from")->group(output);
  command.add_flag("--no-display-prompt", flags->no_display_prompt, "print the continuation only")
      ->group(output);
  command.add_flag("--verbose", flags->verbose, "say what was loaded and what auto chooses")->group(output);
  command
      .add_flag("--profile", flags->profile,
                "print where the passes spend their time, operation by operation, against the roofline")
      ->group(output);
  command.callback([flags, &command] {
    check_variables(command);
    GenerateRun(*flags).execute();
  });
}

}  // namespace spectr::cli
