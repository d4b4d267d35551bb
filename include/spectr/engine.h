// The engine: loads GGUF models, and generates text with them.
//
//     auto engine = spectr::Engine::load({.model = "target.gguf", .drafts = {"draft.gguf"}}).value();
//     std::cout << engine.complete({.prompt = "Once upon a time", .max_tokens = 100}).value().at(0).text;
//
// Lifetime: an engine owns its models. It can be moved, not copied. Completions can outlive it.
// Errors: `io` and `bad_input` name the file or the setting, `unsupported` what this build or machine lacks,
// `out_of_memory` what does not fit, `cancelled` that the queue is full.
// Threads: all functions can be called by several threads at once. Concurrent completions share passes, up to
// `slots`. Callbacks are called by threads of the library; they must not throw, because an exception would
// end the program. Cost: loading maps and packs the files, which takes about the time of reading them.
// logits() and perplexity() compute all tokens anew, in passes that completions do not share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/completion.h"
#include "spectr/error.h"
#include "spectr/request.h"
#include "spectr/token.h"

namespace spectr {
inline namespace v0 {

/// The models of an engine, and where they are computed.
struct EngineOptions {
  std::string model = {};                ///< GGUF file of the target
  std::vector<std::string> drafts = {};  ///< GGUF files of draft models or of a trained drafter
  int threads = 0;                       ///< 0: one per usable processor
  std::size_t context = 0;               ///< tokens of prompt and completion; 0: the model's limit
  std::size_t slots = 1;                 ///< completions that are decoded concurrently
  std::string device = {};               ///< a GPU by name; empty: the CPU
  std::string draft_device = {};
  /// Measures the costs of passes, once per machine, in several seconds; the method auto needs them.
  bool measure_costs = false;
  /// Receives the progress of loading and of measurements, as a share in [0, 1].
  std::function<void(std::string_view what, double share)> progress = {};
  /// Receives warnings about files and messages of measurements, one line each.
  std::function<void(std::string_view line)> log = {};
};

/// Models, and the threads that decode requests with them.
class Engine {
 public:
  /// Loads the models.
  static Result<Engine> load(const EngineOptions& options) {
    auto callbacks = std::make_unique<Callbacks>(options.progress, options.log);
    const std::vector<const char*> drafts = pointers(options.drafts);
    spectr_engine_options settings = spectr_engine_defaults();
    settings.model = options.model.c_str();
    settings.drafts = drafts.data();
    settings.draft_count = drafts.size();
    settings.threads = options.threads;
    settings.context = options.context;
    settings.slots = options.slots;
    settings.device = options.device.c_str();
    settings.draft_device = options.draft_device.c_str();
    settings.measure_costs = options.measure_costs;
    settings.user = callbacks.get();
    if (options.progress) {
      settings.progress = [](void* user, const char* what, double share) noexcept {
        static_cast<Callbacks*>(user)->first(what, share);
      };
    }
    if (options.log) {
      settings.log = [](void* user, const char* line) noexcept {
        static_cast<Callbacks*>(user)->second(line);
      };
    }
    spectr_engine* handle = nullptr;
    const Result<void> done =
        detail::checked([&](spectr_error* error) { return spectr_engine_load(&settings, &handle, error); });
    if (!done) return done.error();
    return Engine(std::move(callbacks), handle);
  }

  /// Checks a request, and queues its completions. `listener` is called when there is a new event, also
  /// before submit() returns, by a thread of the engine whose completion waits for it: wake the thread that
  /// calls Completion::next().
  Result<Completion> submit(const Request& request, std::function<void()> listener = {}) {
    std::vector<spectr_message> messages;
    std::vector<std::vector<spectr_tool_call>> calls;
    const std::vector<const char*> stop = pointers(request.stop);
    spectr_request settings = spectr_request_defaults();
    if (const auto* text = std::get_if<std::string>(&request.prompt)) settings.prompt = text->c_str();
    if (const auto* tokens = std::get_if<std::vector<Token>>(&request.prompt)) {
      static constexpr Token none = 0;
      settings.tokens = tokens->empty() ? &none : tokens->data();
      settings.token_count = tokens->size();
    }
    if (const auto* chat = std::get_if<std::vector<Message>>(&request.prompt)) {
      for (const Message& message : *chat) {
        std::vector<spectr_tool_call>& list = calls.emplace_back();
        for (const ToolCall& call : message.tool_calls)
          list.push_back({call.id.c_str(), call.name.c_str(), call.arguments.c_str()});
        messages.push_back({message.role.c_str(), message.content.c_str(), list.data(), list.size(),
                            optional(message.tool_call_id)});
      }
      settings.message_count = messages.size();
      messages.push_back({});  // so that an empty conversation is not a missing one
      settings.messages = messages.data();
    }
    settings.n = request.n;
    settings.max_tokens = request.max_tokens;
    settings.seed = request.seed;
    settings.temperature = request.sampling.temperature;
    settings.top_k = request.sampling.top_k;
    settings.top_p = request.sampling.top_p;
    settings.min_p = request.sampling.min_p;
    settings.repeat_penalty = request.repeat_penalty;
    settings.method = optional(request.method);
    settings.plan = optional(request.plan);
    settings.drafts = request.drafts;
    settings.length = request.length;
    settings.stop = stop.data();
    settings.stop_count = stop.size();
    settings.ignore_eos = request.ignore_eos;
    settings.json_schema = optional(request.json_schema);
    settings.grammar = optional(request.grammar);
    settings.tools = optional(request.tools);
    settings.tool_choice = optional(request.tool_choice);
    auto kept = std::make_shared<std::function<void()>>(std::move(listener));
    if (*kept) {
      settings.listener = [](void* user) noexcept { (*static_cast<std::function<void()>*>(user))(); };
      settings.user = kept.get();
    }
    spectr_completion* handle = nullptr;
    const Result<void> done = detail::checked(
        [&](spectr_error* error) { return spectr_engine_submit(handle_.get(), &settings, &handle, error); });
    if (!done) return done.error();
    return Completion(std::move(kept), handle, request.n);
  }

  /// Generates the completions of a request, and returns them when all have ended.
  Result<std::vector<Answer>> complete(const Request& request) {
    Result<Completion> completion = submit(request);
    if (!completion) return completion.error();
    return completion->collect();
  }

  /// Returns the number of tokens of the target's vocabulary, V.
  std::size_t vocabulary() const noexcept { return spectr_engine_vocabulary(handle_.get()); }
  /// Returns the maximum tokens of prompt and completion together.
  std::size_t context() const noexcept { return spectr_engine_context(handle_.get()); }

  /// Tokenizes a text, in which special tokens are plain text. Text ends at its first zero byte.
  Result<std::vector<Token>> tokenize(const std::string& text) const {
    std::vector<Token> tokens(text.size() + 8);  // tokens have at least a byte; a tokenizer adds a few
    for (;;) {
      std::size_t count = 0;
      const Result<void> done = detail::checked([&](spectr_error* error) {
        return spectr_engine_tokenize(handle_.get(), text.c_str(), tokens.data(), tokens.size(), &count,
                                      error);
      });
      if (!done) return done.error();
      const bool fits = count <= tokens.size();
      tokens.resize(count);
      if (fits) return tokens;
    }
  }

  /// Converts tokens to bytes of text. A character whose bytes belong to other tokens is incomplete.
  Result<std::string> detokenize(std::span<const Token> tokens) const {
    std::string text(8 * tokens.size(), '\0');
    for (;;) {
      std::size_t size = 0;
      const Result<void> done = detail::checked([&](spectr_error* error) {
        return spectr_engine_detokenize(handle_.get(), tokens.data(), tokens.size(), text.data(), text.size(),
                                        &size, error);
      });
      if (!done) return done.error();
      const bool fits = size <= text.size();
      text.resize(size);
      if (fits) return text;
    }
  }

  /// Returns the target's logits after each of the tokens first … n − 1, [n − first, V].
  Result<std::vector<float>> logits(std::span<const Token> tokens, std::size_t first = 0) const {
    if (tokens.size() > context()) {
      return Error{ErrorCode::context_full, "tokens has " + std::to_string(tokens.size()) +
                                                " entries, but the context holds " +
                                                std::to_string(context())};
    }
    const std::size_t rows = first < tokens.size() ? tokens.size() - first : 0;
    return detail::filled(std::vector<float>(rows * vocabulary()), [&](auto& out, spectr_error* error) {
      return spectr_engine_logits(handle_.get(), tokens.data(), tokens.size(), first, out.data(), error);
    });
  }

  /// Returns the target's perplexity of all tokens but the first, at temperature 1 without filters.
  Result<double> perplexity(std::span<const Token> tokens) const {
    if (tokens.size() < 2) {
      return detail::bad_input("perplexity needs at least 2 tokens, got " + std::to_string(tokens.size()));
    }
    const Result<double> loss = detail::filled(0.0, [&](double& out, spectr_error* error) {
      return spectr_engine_loss(handle_.get(), tokens.data(), tokens.size(), &out, error);
    });
    if (!loss) return loss.error();
    return std::exp(*loss / static_cast<double>(tokens.size() - 1));
  }

 private:
  using Callbacks =
      std::pair<std::function<void(std::string_view, double)>, std::function<void(std::string_view)>>;

  struct Free {
    void operator()(spectr_engine* handle) const noexcept { spectr_engine_free(handle); }
  };

  Engine(std::unique_ptr<Callbacks> callbacks, spectr_engine* handle)
      : callbacks_(std::move(callbacks)), handle_(handle) {}

  /// Returns NULL for an empty string.
  static const char* optional(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

  static std::vector<const char*> pointers(const std::vector<std::string>& strings) {
    std::vector<const char*> all;
    for (const std::string& string : strings) all.push_back(string.c_str());
    return all;
  }

  std::unique_ptr<Callbacks> callbacks_;  // outlive the handle
  std::unique_ptr<spectr_engine, Free> handle_;
};

}  // namespace v0
}  // namespace spectr
