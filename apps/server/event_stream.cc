#include "apps/server/event_stream.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

constexpr std::string_view comment = ": still here\n\n";

/// Writes the events of one answer.
class EventStream final : public http::Reply {
 public:
  explicit EventStream(std::unique_ptr<ActiveRequest> active)
      : active_(std::move(active)),
        format_(make_format(*active_->head)),
        texts_(active_->answer->choices()) {}

  void advance(http::Sink& sink) override {
    if (!std::exchange(begun_, true)) {
      http::Response head = http::Response::of("text/event-stream", "");
      head.headers.add("Cache-Control", "no-cache");
      head.headers.add("X-Accel-Buffering", "no");
      sink.begin(std::move(head), std::string(comment));
    }
    active_->cancel_if_late();
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!texts_[i].outcome) tell(i, sink);
    }
    if (left_ == 0) finish(sink);
  }

 private:
  struct Text {
    bool begun = false;
    std::optional<Outcome> outcome;
  };

  void tell(std::size_t i, http::Sink& sink) {
    Answer& answer = *active_->answer;
    const GenerationRequest& request = active_->request;
    const Chunk chunk = answer.take(i);
    const bool tells_tokens =
        request.api == Api::native || request.details || request.tokens || request.alternatives;
    if (!chunk.text.empty() || !chunk.reasoning.empty() || (tells_tokens && !chunk.tokens.empty()))
      send(format_->chunk(i, chunk, !std::exchange(texts_[i].begun, true)), sink);
    const auto outcome = answer.outcome(i);
    if (!outcome) return;
    texts_[i].outcome = outcome;
    --left_;
    if (const auto failure = failure_of(*outcome)) return send(failure->json(), sink);
    if (outcome->reason == FinishReason::cancelled)
      return send(ApiError::unavailable("cancelled: the server stops", 1).json(), sink);
    if (!texts_[i].begun) send(format_->chunk(i, {}, true), sink);
    send(format_->end(i, *outcome), sink);
  }

  void finish(http::Sink& sink) {
    std::vector<Outcome> outcomes;
    for (const Text& text : texts_) outcomes.push_back(*text.outcome);
    if (const auto usage = format_->usage(outcomes)) send(*usage, sink);
    if (format_->says_done()) sink.write("data: [DONE]\n\n");
    sink.end();
  }

  static void send(const Json& event, http::Sink& sink) { sink.write("data: " + text_of(event) + "\n\n"); }

  std::unique_ptr<ActiveRequest> active_;
  std::unique_ptr<Format> format_;
  std::vector<Text> texts_;
  std::size_t left_ = texts_.size();
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<http::Reply> event_stream(std::unique_ptr<ActiveRequest> active) {
  return std::make_unique<EventStream>(std::move(active));
}

}  // namespace spectr::server
