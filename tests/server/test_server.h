#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/server/server.h"
#include "tests/server/http_client.h"
#include "tests/support/comes_true.h"
#include "tests/support/data.h"

namespace spectr::server {

using TestJson = nlohmann::json;

using test::comes_true;

/// A real server with the bundled pair on a free local port.
class TestServer {
 public:
  static constexpr std::size_t context = 160;  ///< shorter than the models', to keep tests fast

  static ServerOptions options(std::size_t slots = 4, std::size_t queue = 64) {
    ServerOptions options;
    EngineOptions& engine = options.service.engine;
    engine.models.target = find_data("models/spectr-stories-7m-q8_0.gguf").value();
    engine.models.drafts = {find_data("models/spectr-stories-draft-0.6m-q8_0.gguf").value()};
    engine.models.threads = 2;
    engine.models.context = context;
    engine.slots = {.slots = slots, .queue = queue};
    engine.costs = [](const EngineModels&) { return made_up_costs(); };
    engine.measures_on_demand = false;
    options.http.port = 0;
    options.metrics = true;
    return options;
  }

  /// Returns costs for which a wide pass is little more expensive than a narrow one, so that `auto` drafts.
  static std::shared_ptr<const Costs> made_up_costs() {
    return std::make_shared<Costs>(Costs{CostCurve({{1, 1e-3}, {16, 1.2e-3}}),
                                         {{CostCurve({{1, 1e-4}, {16, 1.2e-4}})}},
                                         {1e-6, 1e-6, 1e-6, 1e-6, 2e-6}});
  }

  explicit TestServer(ServerOptions options = TestServer::options())
      : host_(options.http.host), server_(Server::listen(std::move(options)).value()) {
    server_->load().value();
  }

  Server& server() const { return *server_; }

  struct Reply : HttpReply {
    TestJson json() const { return TestJson::parse(body); }
    std::string error() const { return json().at("error").at("type"); }
    /// Returns the data of a stream's events.
    std::vector<std::string> events() const {
      std::vector<std::string> all;
      for (std::size_t at = 0; (at = body.find("data: ", at)) != std::string::npos;) {
        const std::size_t end = body.find("\n\n", at);
        all.push_back(body.substr(at + 6, end - at - 6));
        at = end;
      }
      return all;
    }
  };

  Reply ask(const std::string& method, const std::string& path, const http::Headers& headers = {},
            const std::string& body = "") const {
    return {server::ask(host_, server_->port(), method, path, headers, body)};
  }
  Reply post(const std::string& path, const std::string& body, const http::Headers& headers = {}) const {
    return ask("POST", path, headers, body);
  }
  Reply post(const std::string& path, const TestJson& body) const { return post(path, body.dump()); }
  Reply get(const std::string& path, const http::Headers& headers = {}) const {
    return ask("GET", path, headers);
  }

  /// Returns the number of slots that are generating.
  int busy() const {
    int busy = 0;
    for (const TestJson& slot : get("/slots").json()) busy += slot["is_processing"] == true ? 1 : 0;
    return busy;
  }
  /// Returns a value of /metrics, by name and label, or −1 if it does not exist.
  double metric(const std::string& name) const {
    const std::string text = get("/metrics").body, line = "\nspectr_" + name + " ";
    const std::size_t at = text.find(line);
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + line.size()));
  }
  /// Returns the number of texts with this ending.
  double ended(const std::string& how) const { return metric("texts_total{ending=\"" + how + "\"}"); }

 private:
  std::string host_;
  std::unique_ptr<Server> server_;
};

/// Tests that share one server, which is destroyed after the last test, because its threads must not
/// outlive the process's static objects.
template <std::size_t slots>
class WithServer : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<TestServer>(TestServer::options(slots)); }
  static void TearDownTestSuite() { server_.reset(); }
  static const TestServer& server() { return *server_; }

 private:
  static inline std::unique_ptr<TestServer> server_;
};

}  // namespace spectr::server
