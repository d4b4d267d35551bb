#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/server/model_facts.h"
#include "apps/server/requests/generation_request.h"
#include "spectr/engine/embeddings/embedding.h"
#include "spectr/engine/engine.h"

namespace spectr::server {

/// Maximum nodes of a token tree. The sessions of all slots are started with this size.
inline constexpr std::size_t max_nodes = 65;

struct ServiceOptions {
  EngineOptions engine;               ///< `slots.max_nodes` is ignored
  std::chrono::seconds timeout{600};  ///< per request, including time in the queue
  RequestDefaults defaults;
  EmbeddingOptions embeddings;  ///< defaults for requests
  /// Folder of the files of saved slots; empty: saving and restoring are disabled.
  std::filesystem::path slot_files = {};
  std::vector<std::string> aliases;  ///< model names for clients, preferred one first; empty: file name
  std::string name = {};        ///< of one of several models; empty: the first alias, or else the file's name
  std::string source = {};      ///< where one of several models was found, for clients
  bool loads_at_start = false;  ///< load one of several models when the server starts
};

/// Returns the model name that clients see.
std::string name_of(const ServiceOptions& options);

/// The engine of one model behind the HTTP interface, and its state.
class Service {
 public:
  explicit Service(ServiceOptions options) : options_(std::move(options)) {
    options_.engine.slots.max_nodes = max_nodes;
  }

  /// Loads the models. Before that, using them throws an ApiError with status 503.
  Result<void> load();
  /// Reports not ready but still accepts completions, so that load balancers route requests elsewhere before
  /// any is refused.
  void announce_end() { phase_ = Phase::ending; }
  /// Stops accepting completions.
  void drain() { phase_ = Phase::draining; }
  /// Fails if the model can no longer be computed; no completions are accepted from then on.
  Result<void> check_alive();
  /// Cancels all running completions.
  void cancel_all() {
    if (loaded()) engine_->cancel_all();
  }

  bool loaded() const { return phase_ != Phase::loading; }
  const ServiceOptions& options() const { return options_; }
  const Engine& engine() const;
  const EngineModels& models() const { return engine().models(); }
  /// Throws like engine().
  const ModelFacts& model_facts() const;
  std::string name() const { return name_of(options_); }
  /// Throws if the service does not accept completions or is about to stop.
  void check_ready() const;
  /// Returns the engine for new completions. Throws if none are accepted.
  Engine& open_engine();
  /// Estimates the seconds until a slot is free.
  int retry_after() const;

 private:
  enum class Phase { loading, ready, ending, draining, failed };

  ServiceOptions options_;
  std::unique_ptr<Engine> engine_;
  ModelFacts facts_;
  std::atomic<Phase> phase_ = Phase::loading;
};

}  // namespace spectr::server
