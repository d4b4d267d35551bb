#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/http/handler.h"
#include "apps/server/service.h"

namespace spectr::server {

/// A request's use of a loaded model, which stays loaded for its lifetime.
using ModelLease = std::shared_ptr<Service>;

/// How many models are loaded at a time, and whether requests load them.
struct ModelLimits {
  std::size_t max_loaded = 4;  ///< 0: no limit
  bool loads_on_demand = true;
};

enum class ModelStatus { unloaded, loading, loaded, unloading };

/// State of a model.
struct ModelState {
  const ServiceOptions* options;
  ModelStatus status = ModelStatus::unloaded;
  std::optional<Error> failure = {};  ///< of the last attempt to load it
  ModelLease lease = {};              ///< null unless the status is `loaded`
};

/// A request that waits for its model, see ServedModels::ask().
struct WaitingRequest {
  std::chrono::steady_clock::time_point arrival = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point deadline = {};  ///< set if it waits
  http::Wake wake = {};
  ModelLease lease = {};              ///< granted when the model is loaded
  std::optional<Error> failure = {};  ///< set if it cannot be loaded
};

/// The models of a server: a single one that is loaded at start and answers to any name, or several that
/// requests name. Several are loaded on demand, at most `max_loaded` at a time. If there is no room, the
/// least recently used idle model is unloaded. If all are in use, the least recently used one accepts no
/// further requests and is unloaded after its last request. Thread-safe.
///
/// Locking: `mutex_` guards everything but the constant members. It is never held while a model is loaded,
/// unloaded or used. A single thread loads and unloads; only that thread assigns `Model::service`, and only
/// when the model has no lease.
class ServedModels {
 public:
  /// Serves a single model.
  explicit ServedModels(ServiceOptions only);
  /// Serves several models. Requires: names and aliases are distinct.
  ServedModels(std::vector<ServiceOptions> models, ModelLimits limits);
  /// Requires: no lease exists. Waits for a model that is being loaded.
  ~ServedModels();
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  /// Loads the single model, or those of several that are to be loaded at start. Fails if one cannot be
  /// loaded.
  Result<void> load();

  bool several() const { return several_; }
  const ModelLimits& limits() const { return limits_; }

  /// A request's demand on its model.
  struct Demand {
    bool loads;   ///< load the model if it is not loaded
    bool counts;  ///< it is a use of the model, which then is not the least recently used one
  };
  /// Asks for the model of that name, which a single model ignores. The request has the lease at once, or
  /// take() gives it after `wake` was called. Throws ApiError if the name is unknown, the model may not be
  /// loaded, or too many requests wait for it.
  std::shared_ptr<WaitingRequest> ask(std::string_view name, Demand demand, http::Wake wake);
  /// Returns the lease of a request, or null if its model is still being loaded. Throws ApiError if loading
  /// has failed or the deadline has passed.
  ModelLease take(WaitingRequest& waiting);

  /// Begins to load a model. Throws ApiError if the name is unknown or the model is loaded.
  void begin_load(std::string_view name);
  /// Unloads a model after its last request. Throws ApiError if the name is unknown or the model is not
  /// loaded.
  void begin_unload(std::string_view name);

  /// Returns the states of all models. Throws ApiError while a single model is being loaded.
  std::vector<ModelState> states();
  /// Returns the state of the model of that name. Throws as states(), and with status 404 for an unknown
  /// name.
  ModelState state(std::string_view name);

  /// Reports not ready but still accepts requests, see Service::announce_end().
  void announce_end();
  /// Loads no more models, and makes loaded ones accept no more completions.
  void drain();
  /// Cancels the completions of all loaded models.
  void cancel_all();
  /// Returns true if no request uses a model.
  bool idle();
  /// Returns true while a model is being loaded, which cannot be interrupted.
  bool loading();
  /// Throws ApiError if the server is not ready.
  void check_ready();
  /// Fails if a loaded model can no longer be computed.
  Result<void> check_alive();

 private:
  struct Model {
    ServiceOptions options;  // constant
    ModelStatus status = ModelStatus::unloaded;
    std::unique_ptr<Service> service = {};  // null unless loaded or unloading
    std::size_t leases = 0;
    std::uint64_t last_used = 0;  // value of uses_
    bool unloads_next = false;    // as soon as it is loaded
    std::vector<std::weak_ptr<WaitingRequest>> waiting = {};
    std::optional<Error> failure = {};

    bool is_named(std::string_view name) const;
  };
  using Lock = std::unique_lock<std::mutex>;

  // These functions require that mutex_ is held. Those with a lock release it meanwhile.
  Model& find(std::string_view name, int status_if_unknown);
  void check_single();
  ModelLease lease(Model& model);
  bool is_queued(const Model& model) const;
  void enqueue(Model& model);
  bool has_room() const;
  Model* unused_model();
  Model* next_to_load();
  Model* next_to_unload();
  bool work_is_due();
  void unload(Model& model, Lock& lock);
  void load(Model& model, Lock& lock);
  ModelState state_of(Model& model);

  void work(const std::stop_token& stop);
  /// Ends the wait of all requests for a model by an error.
  void fail(const std::vector<std::shared_ptr<WaitingRequest>>& requests, const Error& failure);
  std::vector<ModelLease> loaded();

  const bool several_;
  const ModelLimits limits_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Model> models_;  // never resized
  std::deque<Model*> queue_;   // to be loaded
  std::uint64_t uses_ = 0;
  bool started_ = false, ending_ = false, draining_ = false;
  std::jthread thread_;  // declared last so that it ends first
};

}  // namespace spectr::server
