#include "apps/server/answers/format.h"

namespace spectr::server {
namespace {

/// /completions, which OpenAI's clients and llama.cpp's both ask for.
class BilingualFormat final : public Format {
 public:
  explicit BilingualFormat(const AnswerHead& head)
      : openai_(openai_format(head)), native_(native_format(head)) {}

  std::optional<Json> opening(std::size_t choice) const override { return openai_->opening(choice); }
  Json chunk(std::size_t choice, const TextDelta& delta) const override {
    return both(openai_->chunk(choice, delta), native_->chunk(choice, delta));
  }
  Json end(std::size_t choice, const CompletionResult& result) const override {
    return both(openai_->end(choice, result), native_->end(choice, result));
  }
  std::optional<Json> usage(std::span<const CompletionResult> results) const override {
    return openai_->usage(results);
  }
  Json whole(std::span<const FinishedText> texts) const override {
    Json native = native_->whole(texts);
    return both(openai_->whole(texts), native.is_array() ? Json::object() : std::move(native));
  }

 private:
  /// What both tell is told as OpenAI has it.
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
