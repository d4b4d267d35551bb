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
        outcomes_(active_->answer->choices()) {}

  void advance(http::Sink& sink) override {
    if (!std::exchange(begun_, true)) {
      http::Response head = http::Response::of("text/event-stream", "");
      head.headers.add("Cache-Control", "no-cache");
      head.headers.add("X-Accel-Buffering", "no");
      sink.begin(std::move(head), std::string(comment));
      for (std::size_t i = 0; i < outcomes_.size(); ++i) {
        if (const auto opening = format_->opening(i)) send(*opening, sink);
      }
      sink.note("prompt_tokens", active_->prompt_tokens());
    }
    active_->cancel_if_late();
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (!outcomes_[i]) tell(i, sink);
    }
    sink.note("generated_tokens", generated_);
    if (left_ == 0) finish(sink);
  }

 private:
  void tell(std::size_t i, http::Sink& sink) {
    Answer& answer = *active_->answer;
    const GenerationRequest& request = active_->request;
    const Chunk chunk = answer.take(i);
    const bool tells_tokens =
        request.api == Api::native || request.details || request.tokens || request.alternatives;
    generated_ += chunk.tokens.size();
    for (const PromptProgress& progress : chunk.progress) send(format_->progress(i, progress), sink);
    if (!chunk.text.empty() || !chunk.reasoning.empty() || (tells_tokens && !chunk.tokens.empty()))
      send(format_->chunk(i, chunk), sink);
    const auto outcome = answer.outcome(i);
    if (!outcome) return;
    outcomes_[i] = outcome;
    --left_;
    if (const auto failure = failure_of(*outcome)) {
      sink.note("reason", failure->what());
      return send(failure->json(), sink);
    }
    if (outcome->reason == FinishReason::cancelled) {
      const ApiError stopped = ApiError::unavailable("cancelled: the server stops", 1);
      sink.note("reason", stopped.what());
      return send(stopped.json(), sink);
    }
    send(format_->end(i, *outcome), sink);
  }

  void finish(http::Sink& sink) {
    std::vector<Outcome> outcomes;
    for (const auto& outcome : outcomes_) outcomes.push_back(*outcome);
    if (const auto usage = format_->usage(outcomes)) send(*usage, sink);
    if (format_->says_done()) sink.write("data: [DONE]\n\n");
    sink.end();
  }

  static void send(const Json& event, http::Sink& sink) { sink.write("data: " + text_of(event) + "\n\n"); }

  std::unique_ptr<ActiveRequest> active_;
  std::unique_ptr<Format> format_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::size_t left_ = outcomes_.size();
  std::uint64_t generated_ = 0;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<http::Reply> event_stream(std::unique_ptr<ActiveRequest> active) {
  return std::make_unique<EventStream>(std::move(active));
}

}  // namespace spectr::server
