#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <semaphore>
#include <tuple>

#include "apps/cli/arguments.h"
#include "apps/cli/commands.h"
#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/method_flags.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/reasoning_printer.h"
#include "apps/cli/sampling_flags.h"
#include "apps/cli/template_flags.h"
#include "apps/cli/text_input.h"
#include "apps/random_seed.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "apps/server/slots.h"
#include "apps/server/tasks.h"
#include "spectr/decode/auto/best_shape.h"

namespace spectr::cli {
namespace {

using server::Answer;
using News = std::counting_semaphore<>;  // of an answer

struct Flags {
  ModelFlags model;
  MethodFlags method;
  SamplingFlags sampling;
  std::string system;
  TemplateFlags chat_template;
  std::vector<std::string> stop_words;
  long predict = -1;
  long seed = -1;
};

/// A conversation on the terminal: the server's engine with one slot, which remembers what was said.
class Conversation {
 public:
  explicit Conversation(Flags flags)
      : flags_(std::move(flags)), warp_(std::make_shared<const Warp>(flags_.sampling.warp())) {
    flags_.model.choose_bundled();
    rule_ = &flags_.method.rule(flags_.model.drafts.size());
    settings_ = flags_.method.request.settings();
    check_settings(*rule_, flags_.method.request, settings_);
    check_drafts(*rule_, flags_.model.drafts.size());
    tell_unused_drafts(flags_.model, *rule_, settings_);
    tell_bias(*rule_, settings_);
    const server::ChatOptions chat = flags_.chat_template.read();
    splits_reasoning_ = chat.splits_reasoning;
    models_ = need(
        server::ModelSet::load(flags_.model.model, {flags_.model.drafts.begin(), flags_.model.drafts.end()},
                               flags_.model.thread_count(),
                               draft_options(flags_.model, *rule_, CostFile(flags_.method.cost_file)), chat));
    tell_warnings(*models_.tokenizer);
    flags_.model.extend_context(*models_.target);
    if (!models_.chat_template) throw Failure(Status::usage, models_.chat_template.error().message);
    check_biases(*warp_, models_.target->vocabulary());
    need(check_tuples(*rule_, settings_, warp_->options(), models_.target->vocabulary()));
    slots_ = need(server::Slots::start(models_, {1, 1, static_cast<std::size_t>(flags_.model.context)}));
    const MethodRequest& request = flags_.method.request;
    if (rule_->reads(Setting::costs) || leaves_shape_open(*rule_, request)) {  // last: it may take seconds
      const auto costs = CostFile(flags_.method.cost_file)
                             .costs(*models_.target, models_.draft_models(), models_.pool->threads());
      settings_ = settings_by_costs(*rule_, request, costs, *warp_, models_.target->vocabulary());
    }
    need(server::check_block(need(make_decoder(*rule_, settings_)), slots_->context()));
    if (!flags_.system.empty()) say("system", flags_.system);
    seed_ = static_cast<std::uint64_t>(flags_.seed);
    if (flags_.seed < 0) fmt::print(stderr, "seed {}\n", seed_ = random_seed());
  }

  void run() {
    const bool terminal = isatty(STDIN_FILENO) == 1;
    for (std::string line; prompt(terminal) && std::getline(std::cin, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      say("user", line);
      answer();
    }
    check_standard_input();
  }

 private:
  static bool prompt(bool shown) {
    if (shown) fmt::print("\n> ");
    std::fflush(stdout);
    return true;
  }

  void say(std::string_view role, const std::string& text) {
    messages_.push_back({{"role", role}, {"content", text}});
    ++said_;
  }

  MarkedText rendered() const {
    try {
      return server::chat_prompt({messages_, {}, {}, {}}, models_.chat_template);
    } catch (const server::ApiError& failure) {
      throw Failure(Status::usage, failure.what());
    }
  }

  std::vector<Token> encoded() const { return server::encode_chat(rendered(), *models_.tokenizer); }

  /// The prompt of the conversation, with room for an answer: what was said first is forgotten until there is
  /// some. None: not even the last message fits, and is forgotten.
  std::optional<std::vector<Token>> prompt_with_room() {
    const std::size_t context = slots_->context();
    const std::size_t quarter = std::max<std::size_t>(context / 4, 1);
    const std::size_t room =
        flags_.predict < 0 ? quarter : std::min(quarter, static_cast<std::size_t>(flags_.predict));
    const std::size_t first = flags_.system.empty() ? 0 : 1;  // of what may be forgotten
    std::size_t forgotten = 0;
    std::vector<Token> prompt = encoded();
    const std::size_t whole = prompt.size();
    while (prompt.size() + room > context && messages_.size() > first + 1) {
      // A turn of the user's goes with its answer.
      messages_.erase(first);
      messages_.erase(first);
      forgotten += 2;
      prompt = encoded();
    }
    if (forgotten > 0)
      fmt::print(stderr,
                 "the conversation has {} tokens, the context {}: its first {} messages are forgotten\n",
                 whole, context, forgotten);
    if (prompt.size() < context) return prompt;
    fmt::print(stderr, "this message makes {} tokens, but the context holds {}: it is left out\n",
               prompt.size(), context);
    messages_.erase(messages_.size() - 1);
    --said_;
    return std::nullopt;
  }

  /// Answers what was said last.
  void answer() {
    auto prompt = prompt_with_room();
    if (!prompt) return;
    const std::size_t context = slots_->context(), room = context - prompt->size();
    const std::size_t limit =
        flags_.predict < 0 ? room : std::min(room, static_cast<std::size_t>(flags_.predict));
    const auto news = std::make_shared<News>(0);
    auto answer = std::make_shared<Answer>(1, [news] { news->release(); });
    server::Task task{*std::move(prompt), rule_, settings_, warp_, limit, false,
                      flags_.stop_words,  seed_, said_};
    if (splits_reasoning_) task.reasoning = server::reasoning_task(rendered(), models_);
    slots_->submit({std::move(task)}, answer);
    std::string text;
    if (show(*answer, *news, text) == server::FinishReason::limit && limit == room)
      fmt::print(stderr, "the context of {} tokens is full: the answer ends here\n", context);
    say("assistant", text);
  }

  /// Prints the answer as it comes, and collects it in `text`. An interrupt ends it, and not the
  /// conversation.
  static server::FinishReason show(Answer& answer, News& news, std::string& text) {
    const Interrupt interrupt;
    ReasoningPrinter printer;
    for (;;) {
      if (interrupt.came()) answer.cancel();
      std::ignore = news.try_acquire_for(std::chrono::milliseconds(100));
      const server::Chunk chunk = answer.take(0);
      text += chunk.text;
      printer.print(chunk.reasoning, chunk.text);
      if (const auto outcome = answer.outcome(0)) {
        if (outcome->reason == server::FinishReason::failed) throw Failure(Status::failed, outcome->failure);
        fmt::print("\n");
        std::fflush(stdout);  // what is told on standard error comes after it
        return outcome->reason;
      }
    }
  }

  Flags flags_;
  std::shared_ptr<const Warp> warp_;
  const MethodRule* rule_ = nullptr;
  MethodOptions settings_;
  std::uint64_t seed_ = 0;  // of all answers; which one it is sets them apart
  bool splits_reasoning_ = true;
  server::ModelSet models_;
  std::unique_ptr<server::Slots> slots_;
  JsonInput messages_ = JsonInput::array();
  std::size_t said_ = 0;  // messages, the forgotten ones too
};

}  // namespace

void add_chat(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("chat", "Talk with a model: a line of yours, an answer of its own");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->model.add_context(command);
  command.add_option("--system-prompt", flags->system, "-sys TEXT: what the model is told first");
  flags->chat_template.add(command);
  repeatable(command.add_option("-r,--reverse-prompt", flags->stop_words,
                                "end an answer before this word; repeatable"));
  command.add_option("-n,--predict,--n-predict", flags->predict, "max tokens of an answer; -1: no limit")
      ->envname("LLAMA_ARG_N_PREDICT")
      ->transform(whole(-1, 1L << 30))
      ->capture_default_str();
  command.add_option("-s,--seed", flags->seed, "same seed, same answers; -1: random, and printed")
      ->transform(whole(-1))
      ->capture_default_str();
  flags->method.add(command);
  flags->method.add_cost_file(command);
  flags->sampling.add(command);
  command.callback([flags, &command] {
    check_variables(command);
    Conversation(*flags).run();
  });
}

}  // namespace spectr::cli
