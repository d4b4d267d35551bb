#include <algorithm>
#include <cmath>

#include "apps/server/answers/format.h"

namespace spectr::server {
namespace {

std::string_view stop_type(const CompletionResult& result) {
  switch (result.reason) {
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

/// Returns the biases in the form in which requests specify them.
Json biases_of(const WarpOptions& sampling) {
  Json biases = Json::array();
  for (const auto& [token, bias] : sampling.logit_bias) {
    biases.push_back({token, std::isfinite(bias) ? Json(bias) : Json(false)});
  }
  return biases;
}

Json settings_of(const PreparedRequest& prepared, std::size_t choice) {
  const Request& request = prepared.request;
  const DecodingSettings& decoding = prepared.decoding;
  Json settings = {{"seed", request.seed}};
  settings.update(sampling_of(decoding.warp->options()));
  settings.update({{"logit_bias", biases_of(decoding.warp->options())},
                   {"n_predict", prepared.limit_of(choice)},
                   {"ignore_eos", request.ignore_eos},
                   {"stop", request.stop_words},
                   {"speculative", speculation_settings(*decoding.method, decoding.options)}});
  return settings;
}

/// Format of /completion, llama.cpp's API.
class NativeFormat final : public Format {
 public:
  explicit NativeFormat(const AnswerHead& head) : head_(head) {}

  Events opening(std::size_t) override { return {}; }

  Events chunk(std::size_t choice, const AnswerDelta& delta) override {
    Json event = {{"index", choice}, {"content", delta.text}, {"tokens", tokens_of(delta)}, {"stop", false}};
    add_tokens(event, delta);
    return Events(1, event);
  }

  Events end(std::size_t choice, const CompletionResult& result, bool) override {
    return Events(1, selected(closing(choice, {}, result)));
  }

  std::optional<Json> usage(std::span<const CompletionResult>) const override { return std::nullopt; }
  bool says_done() const override { return false; }

  Json whole(std::span<const FinishedText> texts) const override {
    Json all = Json::array();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      Json one = closing(i, texts[i].all, texts[i].result);
      add_tokens(one, texts[i].all);
      all.push_back(selected(std::move(one)));
    }
    return texts.size() == 1 ? all.front() : all;
  }

 private:
  Json closing(std::size_t choice, const TextDelta& delta, const CompletionResult& result) const {
    const PreparedRequest& prepared = head_.prepared;
    const std::span<const Token> prompt = prepared.prompt_of(choice);
    return {{"index", choice},
            {"content", delta.text},
            {"tokens", head_.request.tokens ? tokens_of(delta) : Json::array()},
            {"id_slot", result.slot},
            {"stop", true},
            {"model", head_.model},
            {"tokens_predicted", result.statistics.generated()},
            {"tokens_evaluated", prompt.size()},
            {"tokens_cached", result.cached},
            {"prompt", head_.tokenizer.decode(prompt, true)},
            {"generation_settings", settings_of(prepared, choice)},
            {"stop_type", stop_type(result)},
            {"stopping_word", result.stop_word},
            {"truncated", result.reason == FinishReason::context},
            {"has_new_line", result.has_new_line},
            {"timings", timings_of(prepared, {&result, 1}, choice)},
            {"metrics", {{"speculative_decoding", speculation_of(prepared.decoding, {&result, 1})}}}};
  }

  /// Returns the members that the request selects. "timings/prompt_n" is the path of a nested member.
  Json selected(Json whole) const {
    if (head_.request.response_fields.empty()) return whole;
    Json some = Json::object();
    for (const std::string& path : head_.request.response_fields) {
      const Json* found = &whole;
      for (std::size_t begin = 0; found != nullptr && begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const auto member = found->find(path.substr(begin, end - begin));
        found = member == found->end() ? nullptr : &*member;
        begin = end + 1;
      }
      if (found != nullptr) some[path] = *found;
    }
    return some;
  }

  void add_tokens(Json& event, const TextDelta& delta) const {
    if (head_.request.details) event["token_details"] = details_of(delta);
    if (!head_.request.alternatives) return;
    Json all = Json::array();
    for (const TokenReport& report : delta.tokens) {
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
