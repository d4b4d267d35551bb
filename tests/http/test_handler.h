#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "apps/http/handler.h"

namespace spectr::http {

/// A script for a stream; new pieces are sent when the test calls `wake`.
struct Script {
  std::vector<std::string> pieces = {};
  bool complete = false;  ///< no more pieces follow
  bool dropped = false;   ///< the reply was destroyed
  int advanced = 0;
  Wake wake = {};
};

class ScriptedReply final : public Reply {
 public:
  explicit ScriptedReply(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptedReply() override { script_->dropped = true; }
  ScriptedReply(const ScriptedReply&) = delete;
  ScriptedReply& operator=(const ScriptedReply&) = delete;

  void advance(Sink& sink) override {
    ++script_->advanced;
    if (!std::exchange(begun_, true)) sink.begin(Response::of("text/plain", ""), "(still here)");
    sink.note("advanced", static_cast<std::uint64_t>(script_->advanced));
    for (const std::string& piece : std::exchange(script_->pieces, {})) sink.write(piece);
    if (script_->complete) sink.end();
  }

 private:
  std::shared_ptr<Script> script_;
  bool begun_ = false;
};

/// A complete reply that is sent late.
class LateReply final : public Reply {
 public:
  explicit LateReply(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~LateReply() override { script_->dropped = true; }
  LateReply(const LateReply&) = delete;
  LateReply& operator=(const LateReply&) = delete;
  void advance(Sink& sink) override {
    if (script_->complete) sink.send(Response::of("text/plain", "late"));
  }

 private:
  std::shared_ptr<Script> script_;
};

/// Echoes its request. /stream and /late follow the script, /refused rejects before the body, /broken throws.
class TestHandler final : public Handler {
 public:
  std::optional<Response> refuse(const Request& head) const override {
    if (head.path == "/refused") return failure(403, "refused");
    return std::nullopt;
  }
  Headers headers(const Request& /*request*/) const override { return {{"X-Test", "yes"}}; }
  Answer handle(const Request& request, const Wake& wake) const override {
    script->wake = wake;
    if (request.path == "/stream") return std::make_unique<ScriptedReply>(script);
    if (request.path == "/late") return std::make_unique<LateReply>(script);
    if (request.path == "/broken") throw std::runtime_error("broken");
    handled.push_back(request);
    return Response::of("text/plain", request.method + " " + request.path + " [" + request.body + "]");
  }
  Response failure(int status, std::string message) const override {
    return Response::of("text/plain", std::move(message), status);
  }
  bool is_brief(const Request& request) const override { return request.path == "/brief"; }
  void note(const Request& request, const Exchange& exchange) const override {
    noted.push_back(exchange.status);
    ids.push_back(request.id);
    exchanges.push_back(exchange);
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  mutable std::vector<Request> handled = {};
  mutable std::vector<int> noted = {};
  mutable std::vector<std::string> ids = {};
  mutable std::vector<Exchange> exchanges = {};
};

}  // namespace spectr::http
