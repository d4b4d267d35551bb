#include "apps/server/answers/format.h"

namespace spectr::server {
namespace {

/// Format of /completions, which both OpenAI's and llama.cpp's clients use.
class BilingualFormat final : public Format {
 public:
  explicit BilingualFormat(const AnswerHead& head)
      : openai_(openai_format(head)), native_(native_format(head)) {}

  Events opening(std::size_t choice) override { return openai_->opening(choice); }
  Events chunk(std::size_t choice, const AnswerDelta& delta) override {
    return both(openai_->chunk(choice, delta), native_->chunk(choice, delta));
  }
  Events end(std::size_t choice, const CompletionResult& result, bool called) override {
    return both(openai_->end(choice, result, called), native_->end(choice, result, called));
  }
  std::optional<Json> usage(std::span<const CompletionResult> results) const override {
    return openai_->usage(results);
  }
  Json whole(std::span<const FinishedText> texts) const override {
    Json native = native_->whole(texts);
    return both(openai_->whole(texts), native.is_array() ? Json::object() : std::move(native));
  }

 private:
  /// Merges events. Both formats have exactly one each.
  static Events both(const Events& openai, const Events& native) {
    return Events(1, both(openai.front(), native.front()));
  }
  /// Merges two objects. OpenAI's member wins if both have one.
  static Json both(Json openai, const Json& native) {
    for (const auto& [name, value] : native.items()) {
      if (!openai.contains(name)) openai[name] = value;
    }
    return openai;
  }

  std::unique_ptr<Format> openai_, native_;
};

}  // namespace

std::unique_ptr<Format> bilingual_format(const AnswerHead& head) {
  return std::make_unique<BilingualFormat>(head);
}

}  // namespace spectr::server
