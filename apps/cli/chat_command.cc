#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>

#include "apps/cli/bundled_models.h"
#include "apps/cli/commands.h"
#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/method_flags.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/sampling_flags.h"
#include "apps/cli/text_input.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "apps/server/slots.h"

namespace spectr::cli {
namespace {

using server::Answer;
using server::JsonInput;

struct Flags {
  ModelFlags model;
  MethodFlags method;
  SamplingFlags sampling;
  std::string system;
  std::string template_file;
  std::vector<std::string> stop_words;
  long predict = -1;
  long seed = -1;
};

/// A conversation on the terminal: the server's engine with one slot, which remembers what was said.
class Conversation {
 public:
  explicit Conversation(Flags flags) : flags_(std::move(flags)), warp_(flags_.sampling.warp()) {
    if (flags_.model.model.empty()) {
      const BundledPair pair = need(bundled_pair());
      flags_.model.model = pair.target.string();
      flags_.model.drafts = {pair.draft.string()};
    }
    rule_ = &flags_.method.rule(flags_.model.drafts.size());
    settings_ = flags_.method.complete(4, 4);
    if (!rule_->measured)
      (void)need(make_decoder(*rule_, settings_));  // errors come before models are loaded
    if (rule_->models != DraftModels::none && flags_.model.drafts.empty()) {
      throw Failure(Status::usage, fmt::format("method {} needs a draft model: give -md FILE", rule_->name));
    }
    std::optional<std::string> chat_template;
    if (!flags_.template_file.empty()) chat_template = read_file(flags_.template_file);
    models_ = need(server::ModelSet::load(flags_.model.model,
                                          {flags_.model.drafts.begin(), flags_.model.drafts.end()},
                                          flags_.model.thread_count(), chat_template));
    if (!models_.chat_template) throw Failure(Status::usage, models_.chat_template.error().message);
    if (rule_->measured) {
      settings_.costs = CostFile(flags_.method.cost_file)
                            .costs(*models_.target, *models_.drafts.front(), models_.pool->threads());
    }
    const Decoder decoder = need(make_decoder(*rule_, settings_));
    slots_ = need(server::Slots::start(models_, {1, 1, static_cast<std::size_t>(flags_.model.context)}));
    if (decoder.most_nodes(slots_->context()) > server::Slots::most_nodes) {
      throw Failure(Status::usage, fmt::format("a block may draft {} tokens", server::Slots::most_nodes - 1));
    }
    if (!flags_.system.empty()) say("system", flags_.system);
  }

  void run() {
    const bool terminal = isatty(STDIN_FILENO) == 1;
    for (std::string line; prompt(terminal) && std::getline(std::cin, line);) {
      if (line.empty()) continue;
      say("user", line);
      say("assistant", answer());
    }
  }

 private:
  static bool prompt(bool shown) {
    if (shown) fmt::print("\n> ");
    std::fflush(stdout);
    return true;
  }

  void say(std::string_view role, const std::string& text) {
    messages_.push_back({{"role", role}, {"content", text}});
  }

  std::string answer() {
    std::vector<Token> prompt;
    try {
      prompt = server::encode_chat(server::chat_prompt(messages_, {}, models_), *models_.tokenizer);
    } catch (const server::ApiError& failure) {
      throw Failure(Status::usage, failure.what());
    }
    const std::size_t context = slots_->context();
    if (prompt.size() >= context) {
      throw Failure(Status::usage,
                    fmt::format("the conversation has {} tokens, the context {}", prompt.size(), context));
    }
    std::size_t limit = context - prompt.size();
    if (flags_.predict >= 0) limit = std::min(limit, static_cast<std::size_t>(flags_.predict));
    const std::uint64_t seed =
        flags_.seed < 0 ? std::random_device{}() : static_cast<std::uint64_t>(flags_.seed);
    auto answer = std::make_shared<Answer>(1);
    slots_->submit({{std::move(prompt), rule_, settings_, warp_, limit, false, flags_.stop_words, seed,
                     messages_.size()}},
                   answer);
    return show(*answer);
  }

  /// Prints the answer as it comes.
  static std::string show(Answer& answer) {
    std::string text;
    for (;;) {
      answer.wait(std::chrono::milliseconds(100));
      const std::string piece = answer.take(0).text;
      text += piece;
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      std::fflush(stdout);
      if (const auto outcome = answer.outcome(0)) {
        if (outcome->ending == server::Ending::failed) throw Failure(Status::failed, outcome->failure);
        fmt::print("\n");
        return text;
      }
    }
  }

  Flags flags_;
  Warp warp_;
  const MethodRule* rule_ = nullptr;
  MethodOptions settings_;
  server::ModelSet models_;
  std::unique_ptr<server::Slots> slots_;
  JsonInput messages_ = JsonInput::array();
};

}  // namespace

void add_chat(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("chat", "Talk with a model: a line of yours, an answer of its");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_context(command);
  command.add_option("--system-prompt", flags->system, "-sys TEXT: what the model is told first");
  command.add_option("--chat-template-file", flags->template_file,
                     "chat template instead of the model's own");
  command.add_option("-r,--reverse-prompt", flags->stop_words, "end an answer before this word; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("-n,--predict,--n-predict", flags->predict, "most tokens of an answer; -1: no limit")
      ->check(CLI::Range(-1L, 1L << 30))
      ->capture_default_str();
  command.add_option("-s,--seed", flags->seed, "same seed, same answers; -1: random")->capture_default_str();
  flags->method.add(command);
  flags->sampling.add(command);
  command.callback([flags] { Conversation(*flags).run(); });
}

}  // namespace spectr::cli
