#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/model_facts.h"
#include "apps/server/requests/generation_request.h"
#include "spectr/engine/embeddings/embedding.h"
#include "spectr/engine/engine.h"

namespace spectr::server {

/// Maximum nodes of a token tree; the sessions of all slots are started for it.
inline constexpr std::size_t max_nodes = 65;

struct ServiceOptions {
  EngineOptions engine;               ///< `slots.max_nodes` is not read
  std::chrono::seconds timeout{600};  ///< for a request, its waiting included
  RequestDefaults defaults;
  EmbeddingOptions embeddings;  ///< of requests that do not say
  /// The folder of files with sequences of slots; empty: none are written or read.
  std::filesystem::path slot_files = {};
  std::vector<std::string> aliases;  ///< what clients call the model, first its name; empty: by its file
};

/// The engine behind the HTTP interface, and whether it is loaded yet.
class Service {
 public:
  explicit Service(ServiceOptions options) : options_(std::move(options)) {
    options_.engine.slots.max_nodes = max_nodes;
  }

  /// Loads the models. Until then asking for them throws an ApiError with status 503.
  Result<void> load();
  /// Is ready no more, though texts are taken still: who looks whether it is goes elsewhere before any is
  /// refused.
  void announce_end() { phase_ = Phase::ending; }
  /// Takes no new texts.
  void drain() { phase_ = Phase::draining; }
  /// The same for good where a model cannot be computed any more, which it gives as an error.
  Result<void> check_alive();
  /// Cancels every text that is left.
  void cancel_all() {
    if (loaded()) engine_->cancel_all();
  }

  bool loaded() const { return phase_ != Phase::loading; }
  /// Counts a request as active for as long as somebody holds the handle.
  std::shared_ptr<void> begin_request();
  bool idle() const { return active_requests_ == 0; }
  const ServiceOptions& options() const { return options_; }
  const Engine& engine() const;
  const EngineModels& models() const { return engine().models(); }
  /// Throws as engine() does.
  const ModelFacts& model_facts() const;
  /// The model's name for clients.
  std::string name() const;
  /// Throws where texts should not be sent: none are taken, or soon none will be.
  void check_ready() const;
  /// Returns the engine for new completions. Throws if none are accepted.
  Engine& open_engine();
  /// A guess when a slot may be free.
  int retry_after() const;

 private:
  enum class Phase { loading, ready, ending, draining, failed };

  ServiceOptions options_;
  std::unique_ptr<Engine> engine_;
  ModelFacts facts_;
  std::atomic<Phase> phase_ = Phase::loading;
  std::atomic<int> active_requests_ = 0;
};

}  // namespace spectr::server
