#include <cmath>

#include "apps/server/format.h"

namespace spectr::server {
namespace {

std::string_view stop_type(const Outcome& outcome) {
  switch (outcome.reason) {
    case FinishReason::eos:
      return "eos";
    case FinishReason::word:
      return "word";
    case FinishReason::limit:
    case FinishReason::context:
      return "limit";
    case FinishReason::timeout:
      return "timeout";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::not_started:
    case FinishReason::failed:
      break;
  }
  return "none";
}

/// As a request gives them.
Json biases_of(const WarpOptions& sampling) {
  Json biases = Json::array();
  for (const auto& [token, bias] : sampling.logit_bias) {
    biases.push_back({token, std::isfinite(bias) ? Json(bias) : Json(false)});
  }
  return biases;
}

Json settings_of(const Task& task, std::uint64_t seed) {
  Json settings = {{"seed", seed}};
  settings.update(sampling_of(task.warp->options()));
  settings.update({{"logit_bias", biases_of(task.warp->options())},
                   {"n_predict", task.limit},
                   {"ignore_eos", task.ignore_eos},
                   {"stop", task.stop_words},
                   {"speculative", speculation_settings(*task.method, task.settings)}});
  return settings;
}

/// /completion, as llama.cpp answers it.
class NativeFormat final : public Format {
 public:
  explicit NativeFormat(const AnswerHead& head) : head_(head) {}

  std::optional<Json> opening(std::size_t) const override { return std::nullopt; }

  Json chunk(std::size_t choice, const Chunk& chunk) const override {
    Json event = {{"index", choice}, {"content", chunk.text}, {"tokens", tokens_of(chunk)}, {"stop", false}};
    add_tokens(event, chunk);
    return event;
  }

  Json end(std::size_t choice, const Outcome& outcome) const override { return closing(choice, {}, outcome); }

  std::optional<Json> usage(std::span<const Outcome>) const override { return std::nullopt; }
  bool says_done() const override { return false; }

  Json whole(std::span<const FinishedText> texts) const override {
    Json all = Json::array();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      Json one = closing(i, texts[i].all, texts[i].outcome);
      add_tokens(one, texts[i].all);
      all.push_back(std::move(one));
    }
    return texts.size() == 1 ? all.front() : all;
  }

 private:
  Json closing(std::size_t choice, const Chunk& chunk, const Outcome& outcome) const {
    const Task& task = head_.tasks[choice];
    return {{"index", choice},
            {"content", chunk.text},
            {"tokens", head_.request.tokens ? tokens_of(chunk) : Json::array()},
            {"id_slot", outcome.slot},
            {"stop", true},
            {"model", head_.model},
            {"tokens_predicted", outcome.statistics.generated()},
            {"tokens_evaluated", task.prompt.size()},
            {"tokens_cached", outcome.cached},
            {"prompt", head_.tokenizer.decode(task.prompt, true)},
            {"generation_settings", settings_of(task, head_.seed)},
            {"stop_type", stop_type(outcome)},
            {"stopping_word", outcome.stop_word},
            {"truncated", outcome.reason == FinishReason::context},
            {"has_new_line", outcome.has_new_line},
            {"timings", timings_of({&task, 1}, {&outcome, 1})},
            {"metrics", {{"speculative_decoding", speculation_of(task, {&outcome, 1})}}}};
  }

  void add_tokens(Json& event, const Chunk& chunk) const {
    if (head_.request.details) event["token_details"] = details_of(chunk);
    if (!head_.request.alternatives) return;
    Json all = Json::array();
    for (const TokenReport& report : chunk.tokens) {
      Json token = entry(report.token, report.piece, head_.log_probability(report));
      Json& others = token[head_.request.sampled_alternatives ? "top_probs" : "top_logprobs"];
      others = Json::array();
      for (const Alternative& other : report.alternatives)
        others.push_back(entry(other.token, other.piece, other.log_probability));
      all.push_back(std::move(token));
    }
    event["completion_probabilities"] = std::move(all);
  }

  Json entry(Token id, const std::string& piece, double log_probability) const {
    Json entry = {{"id", id}, {"token", piece}, {"bytes", bytes_of(piece)}};
    entry.update(probability_of(log_probability, head_.request.sampled_alternatives));
    return entry;
  }

  const AnswerHead& head_;
};

}  // namespace

std::unique_ptr<Format> native_format(const AnswerHead& head) {
  return std::make_unique<NativeFormat>(head);
}

}  // namespace spectr::server
