#include "apps/cli/conversation.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/reasoning_printer.h"
#include "apps/random_seed.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "apps/server/tasks.h"
#include "spectr/decode/auto/best_shape.h"

namespace spectr::cli {

using server::Answer;

Conversation::Conversation(ConversationFlags flags)
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
  if (!flags_.system.empty()) add("system", flags_.system);
  seed_ = static_cast<std::uint64_t>(flags_.seed);
  if (flags_.seed < 0) fmt::print(stderr, "seed {}\n", seed_ = random_seed());
}

void Conversation::add(std::string_view role, std::string text) {
  messages_.push_back({{"role", role}, {"content", std::move(text)}});
  ++said_;
}

bool Conversation::say(std::string text) {
  add("user", std::move(text));
  return answer();
}

bool Conversation::undo() {
  if (messages_.size() < first_said() + 2) return false;
  messages_.erase(messages_.size() - 1);
  messages_.erase(messages_.size() - 1);
  last_.reset();
  return true;
}

void Conversation::reset() {
  while (messages_.size() > first_said()) messages_.erase(messages_.size() - 1);
  last_.reset();
}

std::string Conversation::statistics() const {
  if (!last_) return "nothing was answered yet\n";
  const server::Outcome& outcome = last_->outcome;
  const Statistics& spent = outcome.statistics;
  std::string text = fmt::format("prompt: {} tokens, {} of them computed, {:.2f} s\n", last_->prompt,
                                 outcome.computed, spent.prompt_seconds);
  text += fmt::format("answer: {} tokens, {:.1f} a second\n", spent.generated(), spent.tokens_per_second());
  text += fmt::format("method {}: {:.2f} tokens a pass of the target", rule_->name, spent.block_efficiency());
  if (spent.drafted() > 0)
    text += fmt::format(", {} of {} drafts accepted", spent.accepted(), spent.drafted());
  text += fmt::format("\ncontext: {} of {} tokens\n", last_->prompt + spent.generated(), slots_->context());
  return text;
}

MarkedText Conversation::rendered() const {
  try {
    return server::chat_prompt({messages_, {}, {}, {}}, models_.chat_template);
  } catch (const server::ApiError& failure) {
    throw Failure(Status::usage, failure.what());
  }
}

std::vector<Token> Conversation::encoded() const {
  return server::encode_chat(rendered(), *models_.tokenizer);
}

/// The prompt of the conversation, with room for an answer: what was said first is forgotten until there is
/// some. None: not even the last message fits, and is forgotten.
std::optional<std::vector<Token>> Conversation::prompt_with_room() {
  const std::size_t context = slots_->context();
  const std::size_t quarter = std::max<std::size_t>(context / 4, 1);
  const std::size_t room =
      flags_.predict < 0 ? quarter : std::min(quarter, static_cast<std::size_t>(flags_.predict));
  const std::size_t first = first_said();
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
               "the conversation has {} tokens, the context {}: its first {} messages are forgotten\n", whole,
               context, forgotten);
  if (prompt.size() < context) return prompt;
  fmt::print(stderr, "this message makes {} tokens, but the context holds {}: it is left out\n",
             prompt.size(), context);
  messages_.erase(messages_.size() - 1);
  --said_;
  return std::nullopt;
}

/// Answers what was said last.
bool Conversation::answer() {
  auto prompt = prompt_with_room();
  if (!prompt) return false;
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
  last_ = Last{context - room, show(*answer, *news, text)};
  if (last_->outcome.reason == server::FinishReason::limit && limit == room)
    fmt::print(stderr, "the context of {} tokens is full: the answer ends here\n", context);
  add("assistant", std::move(text));
  return true;
}

/// Prints the answer, and collects it in `text`.
server::Outcome Conversation::show(Answer& answer, News& news, std::string& text) {
  const Interrupt interrupt;
  ReasoningPrinter printer;
  for (;;) {
    if (interrupt.came()) answer.cancel();
    std::ignore = news.try_acquire_for(std::chrono::milliseconds(100));
    const server::Chunk chunk = answer.take(0);
    text += chunk.text;
    printer.print(chunk.reasoning, chunk.text);
    if (auto outcome = answer.outcome(0)) {
      if (outcome->reason == server::FinishReason::failed) throw Failure(Status::failed, outcome->failure);
      fmt::print("\n");
      std::fflush(stdout);  // what is told on standard error comes after it
      return *std::move(outcome);
    }
  }
}

}  // namespace spectr::cli
