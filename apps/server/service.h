#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/generation_request.h"
#include "apps/server/model_set.h"
#include "apps/server/slots.h"
#include "spectr/engine/loaded_model.h"

namespace spectr::server {

struct ServiceOptions {
  std::filesystem::path target;
  std::vector<std::filesystem::path> drafts;
  int threads = 1;
  LoadOptions load;  ///< of the target and the drafts
  SlotOptions slots;
  std::chrono::seconds timeout{600};  ///< for a request, its waiting included
  RequestDefaults defaults;
  std::vector<std::string> aliases;  ///< what clients call the model, first its name; empty: by its file
  ChatOptions chat;
  /// What passes cost, asked once the models are there, if there is a draft model or requests that say
  /// nothing need it. None: method auto is not offered.
  std::function<std::shared_ptr<const Costs>(const ModelSet&)> costs;
};

/// The models and the slots behind the HTTP interface, and whether they are there yet.
class Service {
 public:
  explicit Service(ServiceOptions options) : options_(std::move(options)) {}

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
    if (loaded()) slots_->cancel_all();
  }

  bool loaded() const { return phase_ != Phase::loading; }
  /// Counts a request as active for as long as somebody holds the handle.
  std::shared_ptr<void> begin_request();
  bool idle() const { return active_requests_ == 0; }
  const ServiceOptions& options() const { return options_; }
  const ModelSet& models() const;
  const Slots& slots() const;
  /// Throws where texts should not be sent: none are taken, or soon none will be.
  void check_ready() const;
  /// For new texts. Throws where none are taken.
  Slots& open_slots();
  /// A guess when a slot may be free.
  int retry_after() const;

 private:
  enum class Phase { loading, ready, ending, draining, failed };

  ServiceOptions options_;
  ModelSet models_;
  std::unique_ptr<Slots> slots_;
  std::atomic<Phase> phase_ = Phase::loading;
  std::atomic<int> active_requests_ = 0;
};

}  // namespace spectr::server
