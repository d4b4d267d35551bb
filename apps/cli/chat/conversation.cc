#include "apps/cli/chat/conversation.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/report/reasoning_printer.h"
#include "apps/cli/report/terminal_style.h"
#include "apps/support/random_seed.h"

namespace spectr::cli {

Conversation::Conversation(ConversationFlags flags)
    : flags_(std::move(flags)),
      sampling_(flags_.sampling.warp().options()),
      has_colours_(has_colours(StandardStream::output)) {
  EngineOptions options = check_models(flags_.model, flags_.method, flags_.verbose);
  const MethodOptions settings = flags_.method.request.settings();
  tell_bias(flags_.method.rule(flags_.model.drafts.size()), settings);
  options.models.chat = flags_.chat_template.read();
  flags_.prompt_cache.prepare(options);
  engine_ = need(Engine::load(std::move(options)));
  flags_.prompt_cache.restore(*engine_);
  for (const std::string& warning : engine_->models().warnings) fmt::print(stderr, "{}\n", warning);
  const Result<ChatTemplate>& chat_template = engine_->models().chat_template;
  if (!chat_template) throw Failure(Status::usage, chat_template.error().message);
  need(engine_->resolve(flags_.method.request, sampling_));  // can take several seconds
  if (!flags_.system.empty()) {
    messages_.push_back(ChatMessage::of("system", flags_.system));
    ++messages_so_far_;
  }
  seed_ = flags_.seed < 0 ? random_seed() : static_cast<std::uint64_t>(flags_.seed);
  if (flags_.verbose) fmt::print(stderr, "seed {}\n", seed_);
}

std::string Conversation::models() const {
  std::string names = std::filesystem::path(flags_.model.model).stem().string();
  for (const std::string& draft : flags_.model.drafts) {
    names += &draft == &flags_.model.drafts.front() ? ", drafts by " : ", ";
    names += std::filesystem::path(draft).stem().string();
  }
  return names;
}

bool Conversation::say(std::string text) {
  std::vector<ChatMessage> messages = messages_;
  messages.push_back(ChatMessage::of("user", std::move(text)));
  auto prompt = with_room(std::move(messages));
  if (!prompt) return false;
  ++messages_so_far_;  // the user's message
  try {
    prompt->messages.push_back(ChatMessage::of("assistant", answer(*prompt)));
  } catch (...) {
    --messages_so_far_;
    throw;
  }
  ++messages_so_far_;
  messages_ = std::move(prompt->messages);
  return true;
}

bool Conversation::undo() {
  if (messages_.size() < first_message() + 2) return false;
  messages_.resize(messages_.size() - 2);
  last_.reset();
  return true;
}

void Conversation::reset() {
  messages_.resize(first_message());
  last_.reset();
}

std::string Conversation::statistics() const {
  if (!last_) return "nothing was answered yet\n";
  const CompletionResult& result = last_->result;
  const Statistics& spent = result.statistics;
  std::string text = fmt::format("prompt: {} tokens, {} of them computed, {:.2f} s\n", last_->prompt,
                                 result.computed, spent.prompt_seconds);
  text += fmt::format("answer: {} tokens, {:.1f} tokens/s\n", spent.generated(), spent.tokens_per_second());
  text +=
      fmt::format("method {}: {:.2f} tokens per target pass", last_->method->name, spent.block_efficiency());
  if (spent.drafted() > 0)
    text += fmt::format(", {} of {} drafts accepted", spent.accepted(), spent.drafted());
  text += fmt::format("\ncontext: {} of {} tokens\n", last_->prompt + spent.generated(), engine_->context());
  return text;
}

std::string Conversation::summary() const {
  const Statistics& spent = last_->result.statistics;
  std::string text = fmt::format("{} tokens, {:.1f} tokens/s", spent.generated(), spent.tokens_per_second());
  if (spent.drafted() > 0) text += fmt::format(", {:.2f} tokens per target pass", spent.block_efficiency());
  return text;
}

MarkedText Conversation::rendered(const std::vector<ChatMessage>& messages) const {
  return need(engine_->models().chat_template->render({messages}));
}

std::vector<Token> Conversation::encoded(const std::vector<ChatMessage>& messages) const {
  return engine_->models().tokenizer->encode(rendered(messages), true);
}

/// Renders messages to a prompt that leaves room for an answer, dropping the oldest ones as needed. Returns
/// nothing if not even the last message fits.
std::optional<Conversation::Prompt> Conversation::with_room(std::vector<ChatMessage> messages) const {
  const std::size_t context = engine_->context();
  const std::size_t quarter = std::max<std::size_t>(context / 4, 1);
  const std::size_t room =
      flags_.predict < 0 ? quarter : std::min(quarter, static_cast<std::size_t>(flags_.predict));
  const std::size_t first = first_message(), all = messages.size();
  std::vector<Token> tokens = encoded(messages);
  const std::size_t whole = tokens.size();
  while (tokens.size() + room > context && messages.size() > first + 1) {
    // Messages of the user are dropped together with their answers.
    const auto oldest = messages.begin() + static_cast<std::ptrdiff_t>(first);
    messages.erase(oldest, oldest + 2);
    tokens = encoded(messages);
  }
  if (tokens.size() >= context) {
    fmt::print(stderr, "this message makes {} tokens, but the context holds {}: it is left out\n",
               tokens.size(), context);
    return std::nullopt;
  }
  if (messages.size() < all) {
    fmt::print(stderr,
               "the conversation has {} tokens, the context {}: its first {} messages are forgotten\n", whole,
               context, all - messages.size());
  }
  return Prompt{std::move(messages), std::move(tokens)};
}

/// Prints the answer to the last message and returns its text.
std::string Conversation::answer(const Prompt& prompt) {
  Request request;
  request.prompts = {prompt.tokens};
  request.method = flags_.method.request;
  request.sampling = sampling_;
  if (flags_.predict >= 0) request.limit = static_cast<std::size_t>(flags_.predict);
  request.stop_words = flags_.stop_words;
  request.seed = seed_;
  request.first_sample = messages_so_far_;
  const ReasoningSplit split = reasoning_split(rendered(prompt.messages), engine_->models());
  if (engine_->models().splits_reasoning) request.reasoning = split;
  if (const auto limit = flags_.chat_template.reasoning_limit()) request.limited_reasoning = {*limit, split};
  request.constraint = flags_.constraint.read();
  if (request.constraint) request.constraint->after = content_mark(*split.form, split.begun);
  const auto prepared = need(engine_->prepare(std::move(request)));
  const auto completion = engine_->submit(prepared);
  std::string text;
  last_ = Last{prompt.tokens.size(), prepared->decoding.method, print(*completion, text)};
  if (last_->result.reason == FinishReason::context)
    fmt::print(stderr, "the context of {} tokens is full: the answer ends here\n", engine_->context());
  return text;
}

/// Prints the answer and appends its text to `text`.
CompletionResult Conversation::print(Completion& completion, std::string& text) const {
  const Interrupt interrupt;
  ReasoningPrinter printer(has_colours_ ? style::model : "");
  for (;;) {
    if (interrupt.came()) completion.cancel();
    const auto news = completion.next(std::chrono::milliseconds(100));
    if (!news) continue;
    const auto& [delta, progress, expectation, result] = news->second;
    text += delta.text;
    printer.print(delta.reasoning, delta.text);
    if (!result) continue;
    const bool failed = result->reason == FinishReason::failed;
    if (!failed || !text.empty()) fmt::print("\n");
    std::fflush(stdout);  // before output on standard error
    if (failed) throw Failure(result->failure);
    return *result;
  }
}

}  // namespace spectr::cli
