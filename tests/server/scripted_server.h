#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/server/test_server.h"
#include "tests/support/models/scripted_model.h"
#include "tests/text/tool_templates.h"

namespace spectr::server {

/// A server whose model follows a script: it writes `said` after the header of a new answer, which ends with
/// a newline, and `arguments` after the beginning of a call, which ends with a colon.
class ScriptedServer {
 public:
  explicit ScriptedServer(const std::vector<std::string>& said,
                          const std::vector<std::string>& arguments = {},
                          const char* chat_template = tool_templates::hermes)
      : model_({{'\n', said}, {':', arguments}}), server_(options_of(model_, chat_template)) {}

  const TestServer& operator*() const { return server_; }
  const TestServer* operator->() const { return &server_; }

 private:
  static ServerOptions options_of(const test::ScriptedModel& model, const char* chat_template) {
    ServerOptions options = TestServer::options(2);
    EngineOptions& engine = options.service.engine;
    engine.models.target = model.path();
    engine.models.drafts.clear();
    engine.models.context = 4096;
    engine.models.chat.source = chat_template;
    return options;
  }

  test::ScriptedModel model_;
  TestServer server_;
};

}  // namespace spectr::server
