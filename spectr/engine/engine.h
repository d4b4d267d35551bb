#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/engine/completion.h"
#include "spectr/engine/costs/cost_file.h"
#include "spectr/engine/engine_models.h"
#include "spectr/engine/request.h"
#include "spectr/engine/slot_pool.h"

namespace spectr {

struct EngineOptions {
  ModelOptions models = {};
  SlotOptions slots = {};
  /// Keeps costs of passes between runs. Without this and `costs`, `auto` is unavailable, and shapes that a
  /// request leaves open have defaults.
  std::optional<CostFile> cost_file = {};
  /// With a cost file, Engine::load() reduces draft models as a trial finds best, see
  /// CostFile::slim().
  bool slims_drafts = false;
  /// Returns the costs of passes of these models on this machine, instead of the cost file. It is called
  /// until it succeeds once, and can take several seconds.
  std::function<Result<std::shared_ptr<const Costs>>(const EngineModels&)> costs = {};
  bool measures_on_demand = true;  ///< measure costs when a request needs them, not only in measure_costs()
  bool profile = false;            ///< measure the operations of passes; requires one slot
};

/// Processes requests: load → prepare → submit → events. An engine owns its models and decodes concurrent
/// requests in shared passes. Thread-safe.
///
///     SPECTR_TRY(auto engine, Engine::load({.models = {.target = "model.gguf"}}));
///     SPECTR_TRY(auto request, engine->prepare({.prompts = {engine->models().tokenizer->encode("Once")}}));
///     const auto completion = engine->submit(request);
///     while (auto news = completion->next(std::chrono::seconds(60))) print(news->second.delta.text);
class Engine {
 public:
  /// Loads the models. Fails as EngineModels::load() and start().
  static Result<std::unique_ptr<Engine>> load(EngineOptions options);

  /// Starts an engine with loaded models; `options.models` is not read. Fails if there is not enough memory
  /// or there are too few threads for the slots.
  static Result<std::unique_ptr<Engine>> start(std::shared_ptr<const EngineModels> models,
                                               EngineOptions options = {});
  ~Engine();

  /// Chooses the method, completes its settings, by cost if the request leaves the shape open, and checks
  /// them together. Fails if the engine cannot decode with them.
  Result<DecodingSettings> resolve(const MethodRequest& method, const WarpOptions& sampling,
                                   std::size_t load = 1) const;

  /// Checks a request and builds what its completions share. Fails, before any pass, with the reason why the
  /// request cannot be decoded.
  Result<std::shared_ptr<const PreparedRequest>> prepare(Request request) const;

  /// Queues the completions of a request. The caller polls their events with Completion::next(), or passes a
  /// listener. Returns null if the queue is full or the engine is shutting down.
  std::shared_ptr<Completion> submit(const std::shared_ptr<const PreparedRequest>& request,
                                     Completion::Listener listener = {});

  /// Cancels all completions and accepts no more.
  void cancel_all() { slots_->cancel_all(); }

  const EngineModels& models() const { return *models_; }
  const SlotOptions& slot_options() const { return options_.slots; }
  /// Returns the maximum tokens of prompt and completion together.
  std::size_t context() const { return models_->context; }
  /// Returns the maximum completions of one request: slots plus queue.
  std::size_t capacity() const { return options_.slots.slots + options_.slots.queue; }

  /// Measures the costs of passes now instead of on demand.
  Result<void> measure_costs();
  /// Returns the costs of passes; null if they have not been measured.
  std::shared_ptr<const Costs> costs() const;
  /// Keeps a completion's findings in the cost file, see CostFile::keep(). Does nothing without one.
  Result<void> keep(const CompletionResult& completion) const;

  const SlotPool& slots() const { return *slots_; }
  SlotPool& slots() { return *slots_; }
  /// Returns one profile per model, the target's first; empty without EngineOptions::profile. Requires: no
  /// completion is being generated.
  std::span<const PassProfile> profiles() const { return profiles_; }

 private:
  Engine(std::shared_ptr<const EngineModels> models, EngineOptions options);

  bool can_measure() const { return options_.cost_file || options_.costs; }
  Result<std::shared_ptr<const Grammar>> compile(const Constraint& constraint) const;
  /// Returns a request's rules for the completions of each of its prompts.
  Result<std::vector<std::shared_ptr<const LogitRule>>> rules_of(const Request& request) const;
  /// Returns the costs, and measures them first if they are unknown.
  Result<std::shared_ptr<const Costs>> measured_costs() const;

  std::shared_ptr<const EngineModels> models_;
  EngineOptions options_;
  mutable std::mutex costs_mutex_;
  mutable std::shared_ptr<const Costs> costs_;
  mutable std::mutex grammar_mutex_;
  mutable std::unique_ptr<GrammarCompiler> grammars_;  // created for the first constraint
  std::vector<PassProfile> profiles_;
  std::unique_ptr<SlotPool> slots_;
};

}  // namespace spectr
