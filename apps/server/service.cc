#include "apps/server/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

constexpr int while_loading = 2, while_stopping = 30, longest = 60;

}  // namespace

std::string name_of(const ServiceOptions& options) {
  if (!options.name.empty()) return options.name;
  return options.aliases.empty() ? options.engine.models.target.stem().string() : options.aliases.front();
}

Result<void> Service::load() {
  SPECTR_TRY(engine_, Engine::load(options_.engine));
  const EngineModels& models = engine_->models();
  for (const std::string& warning : models.warnings) spdlog::warn("{}", warning);
  const SlotPool& slots = engine_->slots();
  spdlog::info(
      "{} slots of {} tokens: their keys and values may come to {:.1f} MB, and take memory as texts grow",
      options_.engine.slots.slots, engine_->context(), 1e-6 * static_cast<double>(slots.reserved_bytes()));
  const RequestDefaults& defaults = options_.defaults;
  SPECTR_TRY(const MethodRule* usual, defaults.speculative.rule(models.draft_count()));
  const bool wanted = models.draft_count() > 0 || usual->reads(Setting::costs);
  if (wanted) SPECTR_TRY_VOID(engine_->measure_costs());
  // Invalid defaults are reported now rather than for every request that uses them.
  SPECTR_TRY_VOID(engine_->resolve(defaults.speculative, defaults.sampling));
  facts_ = ModelFacts::of(models);
  phase_ = Phase::ready;
  return {};
}

Result<void> Service::check_alive() {
  if (!loaded()) return {};
  Result<void> alive = models().check_alive();
  if (!alive) phase_ = Phase::failed;
  return alive;
}

const Engine& Service::engine() const {
  if (!loaded()) throw ApiError::unavailable("the model is being loaded", while_loading);
  return *engine_;
}

const ModelFacts& Service::model_facts() const {
  engine();
  return facts_;
}

void Service::check_ready() const {
  const Phase phase = phase_;
  if (phase == Phase::loading) throw ApiError::unavailable("the model is being loaded", while_loading);
  if (phase == Phase::failed)
    throw ApiError::unavailable("the model cannot be computed any more", while_stopping);
  if (phase != Phase::ready) throw ApiError::unavailable("the server is stopping", while_stopping);
}

Engine& Service::open_engine() {
  if (phase_ != Phase::ending) check_ready();
  return *engine_;
}

int Service::retry_after() const {
  const EngineCounts counts = engine_->slots().counts();
  const double seconds = counts.prompt_seconds + counts.generation_seconds;
  const double texts = static_cast<double>(std::max<std::uint64_t>(counts.finished + counts.cancelled, 1));
  const double ahead =
      static_cast<double>(engine_->slots().queued()) / static_cast<double>(options_.engine.slots.slots);
  return std::clamp(static_cast<int>(ahead * seconds / texts), 1, longest);
}

}  // namespace spectr::server
