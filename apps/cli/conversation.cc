#include "apps/cli/conversation.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <tuple>
#include <utility>

#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/reasoning_printer.h"
#include "apps/cli/terminal_style.h"
#include "apps/random_seed.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "apps/server/tasks.h"
#include "spectr/decode/auto/best_shape.h"

namespace spectr::cli {

using server::Answer;

namespace {

JsonInput message(std::string_view role, std::string text) {
  return {{"role", role}, {"content", std::move(text)}};
}

}  // namespace

Conversation::Conversation(ConversationFlags flags)
    : flags_(std::move(flags)),
      warp_(std::make_shared<const Warp>(flags_.sampling.warp())),
      has_colours_(has_colours(STDOUT_FILENO)) {
  flags_.model.choose_bundled();
  rule_ = &flags_.method.rule(flags_.model.drafts.size());
  settings_ = flags_.method.request.settings();
  check_settings(*rule_, flags_.method.request, settings_);
  check_drafts(*rule_, flags_.model.drafts.size());
  tell_unused_drafts(flags_.model, *rule_, settings_);
  tell_bias(*rule_, settings_);
  const server::ChatOptions chat = flags_.chat_template.read();
  splits_reasoning_ = chat.splits_reasoning;
  const CostFile costs(flags_.method.cost_file, flags_.verbose);
  models_ = need(
      server::ModelSet::load(flags_.model.model, {flags_.model.drafts.begin(), flags_.model.drafts.end()},
                             flags_.model.thread_count(), draft_options(flags_.model, *rule_, costs), chat));
  tell_warnings(*models_.tokenizer);
  flags_.model.extend_context(*models_.target);
  if (!models_.chat_template) throw Failure(Status::usage, models_.chat_template.error().message);
  check_biases(*warp_, models_.target->vocabulary());
  need(check_tuples(*rule_, settings_, warp_->options(), models_.target->vocabulary()));
  slots_ = need(server::Slots::start(models_, {1, 1, static_cast<std::size_t>(flags_.model.context)}));
  const MethodRequest& request = flags_.method.request;
  if (rule_->reads(Setting::costs) || leaves_shape_open(*rule_, request)) {  // last: it may take seconds
    settings_ = settings_by_costs(
        *rule_, request, costs.costs(*models_.target, models_.draft_models(), models_.pool->threads()),
        *warp_, models_.target->vocabulary());
  }
  need(server::check_block(need(make_decoder(*rule_, settings_)), slots_->context()));
  if (!flags_.system.empty()) {
    messages_.push_back(message("system", flags_.system));
    ++said_;
  }
  seed_ = flags_.seed < 0 ? random_seed() : static_cast<std::uint64_t>(flags_.seed);
  if (flags_.verbose) fmt::print(stderr, "seed {}\n", seed_);
}

std::string Conversation::models() const {
  std::string names = models_.name;
  for (const std::string& draft : flags_.model.drafts) {
    names += &draft == &flags_.model.drafts.front() ? ", drafts by " : ", ";
    names += std::filesystem::path(draft).stem().string();
  }
  return names;
}

bool Conversation::say(std::string text) {
  JsonInput messages = messages_;
  messages.push_back(message("user", std::move(text)));
  auto prompt = with_room(std::move(messages));
  if (!prompt) return false;
  ++said_;  // the user's message
  try {
    prompt->messages.push_back(message("assistant", answer(*prompt)));
  } catch (...) {
    --said_;
    throw;
  }
  ++said_;
  messages_ = std::move(prompt->messages);
  return true;
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
  text += fmt::format("answer: {} tokens, {:.1f} tokens/s\n", spent.generated(), spent.tokens_per_second());
  text += fmt::format("method {}: {:.2f} tokens per target pass", rule_->name, spent.block_efficiency());
  if (spent.drafted() > 0)
    text += fmt::format(", {} of {} drafts accepted", spent.accepted(), spent.drafted());
  text += fmt::format("\ncontext: {} of {} tokens\n", last_->prompt + spent.generated(), slots_->context());
  return text;
}

std::string Conversation::summary() const {
  const Statistics& spent = last_->outcome.statistics;
  std::string text = fmt::format("{} tokens, {:.1f} tokens/s", spent.generated(), spent.tokens_per_second());
  if (spent.drafted() > 0) text += fmt::format(", {:.2f} tokens per target pass", spent.block_efficiency());
  return text;
}

MarkedText Conversation::rendered(const JsonInput& messages) const {
  try {
    return server::chat_prompt({messages, {}, {}, {}}, models_.chat_template);
  } catch (const server::ApiError& failure) {
    throw Failure(Status::usage, failure.what());
  }
}

std::vector<Token> Conversation::encoded(const JsonInput& messages) const {
  return server::encode_chat(rendered(messages), *models_.tokenizer);
}

/// The prompt of these messages with room for an answer: the oldest are left out until there is some. None:
/// not even the last message fits.
std::optional<Conversation::Prompt> Conversation::with_room(JsonInput messages) const {
  const std::size_t context = slots_->context();
  const std::size_t quarter = std::max<std::size_t>(context / 4, 1);
  const std::size_t room =
      flags_.predict < 0 ? quarter : std::min(quarter, static_cast<std::size_t>(flags_.predict));
  const std::size_t first = first_said(), all = messages.size();
  std::vector<Token> tokens = encoded(messages);
  const std::size_t whole = tokens.size();
  while (tokens.size() + room > context && messages.size() > first + 1) {
    // A message of the user's goes with its answer.
    messages.erase(first);
    messages.erase(first);
    tokens = encoded(messages);
  }
  if (tokens.size() >= context) {
    fmt::print(stderr, "this message makes {} tokens, but the context holds {}: it is left out\n",
               tokens.size(), context);
    return std::nullopt;
  }
  if (messages.size() < all)
    fmt::print(stderr,
               "the conversation has {} tokens, the context {}: its first {} messages are forgotten\n", whole,
               context, all - messages.size());
  return Prompt{std::move(messages), std::move(tokens)};
}

/// Prints the answer to the last message, and returns it.
std::string Conversation::answer(const Prompt& prompt) {
  const std::size_t context = slots_->context(), room = context - prompt.tokens.size();
  const std::size_t limit =
      flags_.predict < 0 ? room : std::min(room, static_cast<std::size_t>(flags_.predict));
  const auto news = std::make_shared<News>(0);
  auto answer = std::make_shared<Answer>(1, [news] { news->release(); });
  server::Task task{prompt.tokens, rule_, settings_, warp_, limit, false, flags_.stop_words, seed_, said_};
  if (splits_reasoning_) task.reasoning = server::reasoning_task(rendered(prompt.messages), models_);
  slots_->submit({std::move(task)}, answer);
  std::string text;
  last_ = Last{prompt.tokens.size(), show(*answer, *news, text)};
  if (last_->outcome.reason == server::FinishReason::limit && limit == room)
    fmt::print(stderr, "the context of {} tokens is full: the answer ends here\n", context);
  return text;
}

/// Prints the answer, and collects it in `text`.
server::Outcome Conversation::show(Answer& answer, News& news, std::string& text) const {
  const Interrupt interrupt;
  ReasoningPrinter printer(has_colours_ ? style::model : "");
  for (;;) {
    if (interrupt.came()) answer.cancel();
    std::ignore = news.try_acquire_for(std::chrono::milliseconds(100));
    const server::Chunk chunk = answer.take(0);
    text += chunk.text;
    printer.print(chunk.reasoning, chunk.text);
    if (auto outcome = answer.outcome(0)) {
      const bool failed = outcome->reason == server::FinishReason::failed;
      if (!failed || !text.empty()) fmt::print("\n");
      std::fflush(stdout);  // what is told on standard error comes after it
      if (failed) throw Failure(Status::failed, outcome->failure);
      return *std::move(outcome);
    }
  }
}

}  // namespace spectr::cli
