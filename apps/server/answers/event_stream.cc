#include "apps/server/answers/event_stream.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

/// Returns a piece of a stream that its readers ignore.
constexpr std::string_view filler_of(Framing framing) {
  return framing == Framing::lines ? " " : ": still here\n\n";
}

/// Streams the events of one request.
class EventStream final : public http::Reply {
 public:
  explicit EventStream(std::unique_ptr<ActiveRequest> active)
      : active_(std::move(active)),
        format_(make_format(*active_->head)),
        results_(active_->completion->choices()) {}

  void advance(http::Sink& sink) override {
    if (!std::exchange(begun_, true)) {
      const bool are_lines = format_->framing() == Framing::lines;
      http::Response head = http::Response::of(are_lines ? "application/x-ndjson" : "text/event-stream", "");
      head.headers.add("Cache-Control", "no-cache");
      head.headers.add("X-Accel-Buffering", "no");
      sink.begin(std::move(head), std::string(filler_of(format_->framing())));
      for (std::size_t i = 0; i < results_.size(); ++i) {
        send(format_->opening(i), sink);
      }
      sink.note("prompt_tokens", prompt_tokens_of(*active_->prepared));
    }
    active_->cancel_if_late();
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (!results_[i]) tell(i, sink);
    }
    sink.note("generated_tokens", generated_);
    if (left_ == 0) finish(sink);
  }

 private:
  void tell(std::size_t i, http::Sink& sink) {
    const GenerationRequest& request = active_->request;
    const auto [delta, progress, result, called] = active_->take(i);
    const bool includes_tokens =
        is_native(request.api) || request.details || request.tokens || request.alternatives;
    generated_ += delta.tokens.size();
    for (const PromptProgress& step : progress) send(format_->progress(i, step), sink);
    if (!delta.text.empty() || !delta.reasoning.empty() || !delta.calls.empty() || !delta.prompt.empty() ||
        (includes_tokens && !delta.tokens.empty())) {
      send(format_->chunk(i, delta), sink);
    } else if (!delta.tokens.empty() && !active_->parsers.empty()) {
      sink.write(filler_of(format_->framing()));  // the tool call is still incomplete
    }
    if (!result) return;
    results_[i] = result;
    --left_;
    if (const auto failure = failure_of(*result)) {
      // Completions that never began were ended by the failure of another one, whose reason is logged.
      if (!has_reason_ || result->reason != FinishReason::not_started) sink.note("reason", failure->what());
      has_reason_ = true;
      return send(format_->failure(*failure), sink);
    }
    if (result->reason == FinishReason::cancelled) {
      const ApiError stopped = ApiError::unavailable("cancelled: the server stops", 1);
      sink.note("reason", stopped.what());
      has_reason_ = true;
      return send(format_->failure(stopped), sink);
    }
    send(format_->end(i, *result, called), sink);
  }

  void finish(http::Sink& sink) {
    std::vector<CompletionResult> results;
    for (const auto& result : results_) results.push_back(*result);
    if (const auto usage = format_->usage(results)) send(*usage, sink);
    if (format_->says_done()) sink.write("data: [DONE]\n\n");
    sink.end();
  }

  void send(const Json& event, http::Sink& sink) const {
    if (format_->framing() == Framing::lines) return sink.write(text_of(event) + "\n");
    if (format_->framing() == Framing::named_events)
      sink.write("event: " + event["type"].get<std::string>() + "\n");
    sink.write("data: " + text_of(event) + "\n\n");
  }
  void send(const Events& events, http::Sink& sink) const {
    for (const Json& event : events) send(event, sink);
  }

  std::unique_ptr<ActiveRequest> active_;
  std::unique_ptr<Format> format_;
  std::vector<std::optional<CompletionResult>> results_;
  std::size_t left_ = results_.size();
  std::uint64_t generated_ = 0;
  bool begun_ = false;
  bool has_reason_ = false;  // the log has a reason
};

}  // namespace

std::unique_ptr<http::Reply> event_stream(std::unique_ptr<ActiveRequest> active) {
  return std::make_unique<EventStream>(std::move(active));
}

}  // namespace spectr::server
