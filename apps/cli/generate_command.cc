#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "apps/cli/arguments.h"
#include "apps/cli/commands.h"
#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/generation_report.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/method_flags.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/output.h"
#include "apps/cli/profile_report.h"
#include "apps/cli/sampling_flags.h"
#include "apps/cli/template_flags.h"
#include "apps/cli/text_input.h"
#include "apps/cli/text_printer.h"
#include "apps/random_seed.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "apps/server/model_set.h"
#include "spectr/base/counter_random.h"
#include "spectr/decode/auto/best_shape.h"
#include "spectr/decode/generate.h"

namespace spectr::cli {
namespace {

struct GenerateFlags {
  ModelFlags model;
  TextInput input;
  MethodFlags method;
  SamplingFlags sampling;
  long predict = 256;
  long seed = -1;
  std::vector<std::string> stop_words;
  std::optional<std::string> tokens;
  bool special = false;
  bool chat = false;
  std::string system;
  TemplateFlags chat_template;
  bool ignore_eos = false;
  bool json = false;
  bool compare = false;
  bool show = false;
  bool verbose = false;
  bool profile = false;
  bool no_display_prompt = false;
};

/// The models of a run and what they need.
class Run {
 public:
  explicit Run(GenerateFlags flags) : flags_(std::move(flags)), pool_(flags_.model.thread_count()) {}

  void execute() {
    if (!flags_.chat && !flags_.system.empty())
      throw Failure(Status::usage, "--system-prompt goes with --chat");
    if (flags_.tokens && (flags_.input.text || flags_.input.file || flags_.chat))
      throw Failure(Status::usage, "--tokens is the prompt: it goes without -p, -f and --chat");
    if (flags_.profile && flags_.model.device.any())
      throw Failure(Status::usage, "--profile tells the processor's operations apart, not a device's");
    std::string text = flags_.tokens ? "" : flags_.input.read_prompt();
    flags_.model.choose_bundled();
    const MethodRule& rule = flags_.method.rule(flags_.model.drafts.size());
    MethodOptions settings = flags_.method.request.settings();
    check_settings(rule, flags_.method.request, settings);
    check_drafts(rule, flags_.model.drafts.size());
    tell_unused_drafts(flags_.model, rule, settings);
    const Warp warp = flags_.sampling.warp();
    target_ = need(load_model(flags_.model.model, pool_, flags_.model.load_options()));
    if (rule.models.max > 0)
      drafts_ = load_drafts(flags_.model, target_, pool_, draft_options(flags_.model, rule, cost_file()));
    tell_warnings(*target_.tokenizer);
    flags_.model.extend_context(*target_.transformer);
    check_biases(warp, target_.transformer->vocabulary());
    need(check_tuples(rule, settings, warp.options(), target_.transformer->vocabulary()));
    if (flags_.verbose) describe_models();
    if (flags_.tokens) {
      prompt_ = parse_tokens(*flags_.tokens, target_.transformer->vocabulary());
      text = target_.tokenizer->decode(prompt_, flags_.special);
    } else if (flags_.chat) {
      prompt_ = chat_prompt(text);
    } else {
      prompt_ = target_.tokenizer->encode(text, {.parse_special = flags_.special});
    }
    if (!flags_.tokens && !flags_.chat && !flags_.special &&
        prompt_ != target_.tokenizer->encode(text, {.parse_special = true}))
      fmt::print(stderr,
                 "the prompt holds the names of control tokens, as text: --special makes them tokens\n");
    if (prompt_.empty()) throw Failure(Status::usage, "the prompt has no tokens");
    const std::size_t context = plan_context();
    const MethodRequest& request = flags_.method.request;
    if (rule.reads(Setting::costs) || leaves_shape_open(rule, request))  // last, as it may take seconds
      settings = settings_by_costs(rule, request, costs(), warp, target_.transformer->vocabulary());
    const std::uint64_t seed = flags_.seed < 0 ? random_seed() : static_cast<std::uint64_t>(flags_.seed);

    std::optional<TextPrinter> printer;
    printer.emplace(*target_.tokenizer, flags_.stop_words, printing(), std::move(splitter_));
    if (printing() != Printing::nothing && !flags_.no_display_prompt) printer->show_prompt(text);
    const Generation generation = generate_once(rule, settings, warp, context, seed, &*printer);
    printer->finish();
    const DraftShape shape = shape_;
    const std::string_view stop = stop_name(generation.stop);
    std::optional<Generation> baseline;
    if (flags_.compare && !interrupted_) {
      baseline = generate_once(*need(find_method("plain")), {}, warp, context, seed, nullptr);
      if (interrupted_) baseline.reset();
    }

    const GenerationReport report{
        rule,
        shape,
        settings.plan.value_or(std::string(rule.plan)),
        generation,
        stop,
        printer->text(),
        seed,
        rule.reads(Setting::costs) ? std::optional(settings.costs->hash()) : std::nullopt,
        load_seconds(),
        std::move(baseline)};
    const auto profile = flags_.profile ? std::optional(profile_report()) : std::nullopt;
    if (flags_.json) {
      Json object = report.json();
      if (profile) object["profile"] = profile->json();
      print_json(object);
    } else {
      report.print(stderr, flags_.verbose);
      if (profile) profile->print(stderr);
    }
    if (rule.reads(Setting::costs) && !interrupted_)
      cost_file().keep(*target_.transformer, draft_models(), pool_.threads(), cost_check_, learned_);
    if (interrupted_) end_interrupted();
  }

 private:
  /// What a user says, by the model's chat template. Says how the answer's thoughts are told apart, too.
  std::vector<Token> chat_prompt(const std::string& said) {
    const server::ChatOptions options = flags_.chat_template.read();
    const std::string source = need(server::chat_template_source(target_.transformer->file(), options));
    const auto chat_template =
        server::ChatTemplate::make(source, target_.tokenizer->vocabulary(), options.rendering());
    JsonInput messages = JsonInput::array();
    if (!flags_.system.empty()) messages.push_back({{"role", "system"}, {"content", flags_.system}});
    messages.push_back({{"role", "user"}, {"content", said}});
    try {
      const MarkedText prompt = server::chat_prompt({messages, {}, {}, {}}, chat_template);
      const ReasoningForm& form = reasoning_form(source);
      if (options.splits_reasoning) splitter_ = ReasoningSplitter::make(form, begun_answer(prompt, form));
      return server::encode_chat(prompt, *target_.tokenizer);
    } catch (const server::ApiError& failure) {
      throw Failure(Status::usage, failure.what());
    }
  }

  /// What ended the text; a limit that the context is tells how large a context is wanted.
  std::string_view stop_name(StopReason stop) const {
    if (interrupted_) return "interrupt";
    return stop == StopReason::limit && limited_by_context_ ? "context" : name(stop);
  }

  Printing printing() const {
    if (flags_.json) return Printing::nothing;
    return flags_.show ? Printing::sources : Printing::text;
  }

  CostFile cost_file() const { return CostFile(flags_.method.cost_file, flags_.verbose); }

  std::vector<const Transformer*> draft_models() const {
    std::vector<const Transformer*> drafts;
    for (const LoadedModel& draft : drafts_) drafts.push_back(draft.transformer.get());
    return drafts;
  }

  std::shared_ptr<const Costs> costs() const {
    return cost_file().costs(*target_.transformer, draft_models(), pool_.threads());
  }

  /// Compares what the last block took with what the costs say of it. The first one does not count: it reads.
  void check_costs(const Decoder& decoder) {
    const auto [draft, target, select] = decoder.seconds();
    const double now = draft + target + select;
    const double took = now - std::exchange(seconds_, now);
    const auto expectation = decoder.drafter().expectation();
    if (expectation && took < now) cost_check_.add(took, expectation->charged);
  }

  double load_seconds() const {
    double sum = target_.seconds;
    for (const LoadedModel& draft : drafts_) sum += draft.seconds;
    return sum;
  }

  void describe_models() const {
    const auto line = [](const char* role, const LoadedModel& model) {
      const ModelSpec& spec = model.transformer->spec();
      fmt::print(stderr,
                 "{}: {}, vocabulary {}, {} layers of width {}, context {}, weights of {:.1f} MB, loaded in "
                 "{:.2f} s\n",
                 role, spec.name, spec.vocabulary, spec.layers.size(), spec.width, spec.context,
                 static_cast<double>(model.transformer->weight_bytes()) * 1e-6, model.seconds);
    };
    line("target", target_);
    for (const LoadedModel& draft : drafts_) line("draft", draft);
    fmt::print(stderr, "threads: {}\n", pool_.threads());
  }

  /// What an automatic choice chose and why, whenever it chooses anew.
  void describe_choice(const Decoder& decoder) {
    const auto why = decoder.drafter().expectation();
    if (!why) return;
    const DraftShape shape = why->shape;
    std::string what = "plain decoding";
    if (why->model) {
      what = fmt::format("K {}, L {}", shape.drafts, shape.length);
      if (drafts_.size() > 1) what += " by " + drafts_[*why->model].transformer->spec().name;
    } else if (shape.length > 0) {
      what = fmt::format("L {} from the text itself", shape.length);
    }
    if (why->probe) what += ", to see what drafts are worth";
    if (what == choice_) return;
    choice_ = what;
    fmt::print(
        stderr, "\n[{}: {:.2f} tokens in {:.2f} ms expected, {:.2f} ms each; {:.2f} ms by plain decoding]\n",
        what, why->tokens, 1e3 * why->seconds, 1e3 * why->seconds / why->tokens, 1e3 * why->plain_seconds);
  }

  /// Tokens that a session must hold: what was asked for, or what prompt and -n need of the model's context.
  std::size_t plan_context() {
    const std::size_t own = target_.transformer->context();
    std::size_t context = flags_.model.context > 0 ? static_cast<std::size_t>(flags_.model.context) : own;
    if (prompt_.size() > context) {
      throw Failure(Status::usage, fmt::format("the prompt has {} tokens, but the context holds {}",
                                               prompt_.size(), context));
    }
    limited_by_context_ =
        flags_.predict < 0 || prompt_.size() + static_cast<std::size_t>(flags_.predict) > context;
    if (flags_.predict >= 0)
      context = std::min(context, prompt_.size() + static_cast<std::size_t>(flags_.predict));
    return context;
  }

  Generation generate_once(const MethodRule& rule, const MethodOptions& settings, const Warp& warp,
                           std::size_t context, std::uint64_t seed, TextPrinter* printer) {
    Decoder decoder = need(make_decoder(rule, settings));
    // One profile a model, the target's first; a run to compare with has none.
    const bool profiled = flags_.profile && printer != nullptr;
    const auto profile = [&] { return profiled ? &profiles_.emplace_back() : nullptr; };
    const std::size_t nodes = decoder.max_nodes(context);
    Models models{need(target_.transformer->start(context, nodes, profile())), {}, warp};
    for (const LoadedModel& draft : drafts_) {
      if (rule.models.max == 0) break;
      const std::size_t max = std::min(context, draft.transformer->context());
      models.drafts.push_back(need(draft.transformer->start(max, nodes, profile())));
    }
    GenerateOptions options;
    options.limit = flags_.predict < 0 ? context : static_cast<std::size_t>(flags_.predict);
    if (!flags_.ignore_eos) options.ends = target_.tokenizer->vocabulary().ends();
    // Without a printer stop words must end the text all the same.
    TextPrinter silent(*target_.tokenizer, flags_.stop_words, Printing::nothing);
    TextPrinter& listener = printer != nullptr ? *printer : silent;
    CounterRandom choices(seed);
    std::optional<Interrupt> interrupt;  // from the first block on: before, nothing would be lost
    const auto listen = [&](const Block& block) -> std::optional<std::size_t> {
      if (!interrupt) interrupt.emplace();
      if (flags_.verbose && printer != nullptr) describe_choice(decoder);
      if (printer != nullptr) check_costs(decoder);
      if (const auto kept = listener.add(block.tokens, block.sources)) return kept;
      interrupted_ = interrupt->came();
      return interrupted_ ? std::optional(block.tokens.size()) : std::nullopt;
    };
    Generation generation =
        need(generate(decoder, models, prompt_, options, choices, listen), Status::failed);
    shape_ = decoder.shape();
    if (printer != nullptr) learned_ = decoder.drafter().learned();
    return generation;
  }

  ProfileReport profile_report() {
    std::vector<ProfileReport::Model> models;
    for (const PassProfile& profile : profiles_) {
      const std::size_t before = models.size();
      const LoadedModel& model = before == 0 ? target_ : drafts_[before - 1];
      models.push_back({before == 0 ? "target" : "draft", model.transformer->spec().name, profile});
    }
    return {std::move(models), pool_};
  }

  GenerateFlags flags_;
  ThreadPool pool_;
  LoadedModel target_;
  std::vector<LoadedModel> drafts_;
  DraftShape shape_;  // of the last run
  bool interrupted_ = false;
  bool limited_by_context_ = false;  // more tokens are wanted than there is room for
  std::string choice_;               // the last one that was described
  CostCheck cost_check_;
  double seconds_ = 0.0;  // of all blocks so far
  std::vector<Learned> learned_;
  std::vector<Token> prompt_;
  std::unique_ptr<ReasoningSplitter> splitter_;  // of an answer
  std::deque<PassProfile> profiles_;             // sessions point at them
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
  flags->input.add(command);
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
  command.add_flag("--ignore-eos", flags->ignore_eos, "go on after end-of-text tokens");
  command.add_flag("--no-conversation")
      ->description("-no-cnv: changes nothing; spectr chat is the conversation");
  flags->method.add(command);
  flags->method.add_cost_file(command);
  flags->sampling.add(command);
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
    Run(*flags).execute();
  });
}

}  // namespace spectr::cli
