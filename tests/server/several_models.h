#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/test_server.h"

namespace spectr::server {

/// Three models under the names first, second and third, which count how often they are loaded, and one
/// named broken, whose file is not a model.
class SeveralModels {
 public:
  SeveralModels() : broken_(testing::TempDir() + "spectr-broken-" + std::to_string(::getpid()) + ".gguf") {
    std::ofstream(broken_) << "GGUF, but nothing else of one";
  }
  ~SeveralModels() { std::filesystem::remove(broken_); }
  SeveralModels(const SeveralModels&) = delete;
  SeveralModels& operator=(const SeveralModels&) = delete;

  std::vector<ServiceOptions> offers() const {
    std::vector<ServiceOptions> all;
    for (const char* name : {"first", "second", "third", "broken"}) {
      ServiceOptions model = TestServer::options(2).service;
      model.name = name;
      model.source = "preset";
      model.engine.costs = [loads = loads_](const EngineModels&) {
        ++*loads;
        return TestServer::made_up_costs();
      };
      all.push_back(std::move(model));
    }
    all[1].aliases = {"two", "zwei"};
    all[2].engine.models.drafts.clear();
    all[3].engine.models.target = broken_;
    return all;
  }
  ServerOptions options(ModelLimits limits = {}) const {
    ServerOptions options = TestServer::options();
    options.models = offers();
    options.limits = limits;
    return options;
  }

  const std::string& broken() const { return broken_; }
  /// Returns how often a model with a draft was loaded.
  int loads() const { return *loads_; }

 private:
  std::string broken_;
  std::shared_ptr<std::atomic<int>> loads_ = std::make_shared<std::atomic<int>>(0);
};

/// Keeps a model from being loaded until `released` is set.
inline void hold(ServiceOptions& model, std::promise<void>& released) {
  model.engine.costs = [wait = released.get_future().share()](const EngineModels&) {
    wait.wait();
    return TestServer::made_up_costs();
  };
}

/// Returns the status of a model as /models has it.
inline std::string status_of(const TestServer& server, const std::string& name) {
  return server.get("/v1/models/" + name).json()["status"]["value"];
}

}  // namespace spectr::server
