#include "apps/server/event_stream.h"

#include <utility>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds sign_of_life{15};

/// Writes the events of one answer.
class EventStream {
 public:
  explicit EventStream(std::shared_ptr<ActiveRequest> active)
      : active_(std::move(active)),
        format_(make_format(*active_->head)),
        texts_(active_->answer->choices()) {}

  ~EventStream() { active_->answer->cancel(); }
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// Sends what has come; waits a little where nothing has. False: the client has gone.
  bool go_on(httplib::DataSink& sink) {
    Answer& answer = *active_->answer;
    answer.wait(client_poll_interval);
    if (Clock::now() > active_->deadline) answer.cancel(FinishReason::timeout);
    bool open = true;
    for (std::size_t i = 0; i < texts_.size() && open; ++i) {
      if (!texts_[i].outcome) open = tell(i, sink);
    }
    if (open && Clock::now() - last_sent_ > sign_of_life) open = send_text(": still here\n\n", sink);
    if (!open || !sink.is_writable()) return false;
    if (left_ == 0) finish(sink);
    return true;
  }

 private:
  struct Text {
    bool begun = false;
    std::optional<Outcome> outcome;
  };

  bool tell(std::size_t i, httplib::DataSink& sink) {
    Answer& answer = *active_->answer;
    const GenerationRequest& request = active_->request;
    const Chunk chunk = answer.take(i);
    const bool tells_tokens =
        request.api == Api::native || request.details || request.tokens || request.alternatives;
    if (!chunk.text.empty() || (tells_tokens && !chunk.tokens.empty())) {
      if (!send(format_->chunk(i, chunk, !std::exchange(texts_[i].begun, true)), sink)) return false;
    }
    const auto outcome = answer.outcome(i);
    if (!outcome) return true;
    texts_[i].outcome = outcome;
    --left_;
    if (const auto failure = failure_of(*outcome)) return send(failure->json(), sink);
    if (outcome->reason == FinishReason::cancelled)
      return send(ApiError::unavailable("cancelled: the server stops", 1).json(), sink);
    if (!texts_[i].begun && !send(format_->chunk(i, {}, true), sink)) return false;
    return send(format_->end(i, *outcome), sink);
  }

  void finish(httplib::DataSink& sink) {
    std::vector<Outcome> outcomes;
    for (const Text& text : texts_) outcomes.push_back(*text.outcome);
    if (const auto usage = format_->usage(outcomes)) send(*usage, sink);
    if (format_->says_done()) send_text("data: [DONE]\n\n", sink);
    sink.done();
  }

  bool send(const Json& event, httplib::DataSink& sink) {
    return send_text("data: " + text_of(event) + "\n\n", sink);
  }
  bool send_text(const std::string& text, httplib::DataSink& sink) {
    last_sent_ = Clock::now();
    return sink.write(text.data(), text.size());
  }

  std::shared_ptr<ActiveRequest> active_;
  std::unique_ptr<Format> format_;
  std::vector<Text> texts_;
  std::size_t left_ = texts_.size();
  Clock::time_point last_sent_ = Clock::now();
};

}  // namespace

void stream(std::shared_ptr<ActiveRequest> active, httplib::Response& response) {
  auto events = std::make_shared<EventStream>(std::move(active));
  response.set_header("Cache-Control", "no-cache");
  response.set_header("X-Accel-Buffering", "no");
  // Of exactly this type, as the HTTP library compresses any other text, which would hold events back.
  response.set_chunked_content_provider(
      "text/event-stream", [events](std::size_t, httplib::DataSink& sink) { return events->go_on(sink); });
}

}  // namespace spectr::server
