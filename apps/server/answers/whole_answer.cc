#include "apps/server/answers/whole_answer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/server/answers/responses.h"

namespace spectr::server {
namespace {

class WholeAnswer final : public http::Reply {
 public:
  explicit WholeAnswer(std::unique_ptr<ActiveRequest> active)
      : active_(std::move(active)), texts_(active_->completion->choices()), done_(texts_.size()) {}

  void advance(http::Sink& sink) override {
    active_->cancel_if_late();
    sink.note("prompt_tokens", prompt_tokens_of(*active_->prepared));
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!done_[i]) collect(i);
    }
    std::uint64_t generated = 0;
    for (const FinishedText& text : texts_) generated += text.all.tokens.size();
    sink.note("generated_tokens", generated);
    if (std::ranges::find(done_, false) == done_.end()) sink.send(answer());
  }

 private:
  void collect(std::size_t i) {
    AnswerNews news = active_->take(i);
    texts_[i].all.append(std::move(news.delta));
    if (!news.result) return;
    texts_[i].result = *std::move(news.result);
    done_[i] = true;
  }

  http::Response answer() const {
    for (const FinishedText& text : texts_) {
      if (const auto failure = failure_of(text.result))
        return response_of(*failure, error_json(*failure, active_->request.api));
    }
    return response_of(make_format(*active_->head)->whole(texts_));
  }

  std::unique_ptr<ActiveRequest> active_;
  std::vector<FinishedText> texts_;
  std::vector<bool> done_;
};

}  // namespace

std::unique_ptr<http::Reply> whole_answer(std::unique_ptr<ActiveRequest> active) {
  return std::make_unique<WholeAnswer>(std::move(active));
}

}  // namespace spectr::server
