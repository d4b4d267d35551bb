#include "apps/server/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

constexpr int while_loading = 2, while_stopping = 30, longest = 60;

}  // namespace

Result<void> Service::load() {
  SPECTR_TRY(models_, ModelSet::load(options_.target, options_.drafts, options_.threads, options_.load,
                                     options_.chat));
  for (const std::string& warning : models_.tokenizer->vocabulary().warnings()) spdlog::warn("{}", warning);
  if (!options_.aliases.empty()) models_.name = options_.aliases.front();
  if (const std::size_t asked = options_.slots.context; asked > models_.target->context()) {
    spdlog::warn("{}", longer_than_trained(*models_.target, asked));
    SPECTR_TRY_VOID(models_.target->extend_context(asked));
  }
  const RequestDefaults& defaults = options_.defaults;
  SPECTR_TRY(const MethodRule* usual,
             defaults.speculative.rule(models_.drafts.size(), options_.costs != nullptr));
  // What cannot be had is told now, and not to every request that says nothing.
  SPECTR_TRY_VOID(
      check_tuples(*usual, defaults.speculative.settings(), defaults.sampling, models_.target->vocabulary()));
  SPECTR_TRY(slots_, Slots::start(models_, options_.slots));
  spdlog::info(
      "{} slots of {} tokens: their keys and values may come to {:.1f} MB, and take memory as texts grow",
      options_.slots.slots, slots_->context(), 1e-6 * static_cast<double>(slots_->reserved_bytes()));
  const bool wanted = !models_.drafts.empty() || usual->reads(Setting::costs);
  if (options_.costs && wanted) models_.costs = options_.costs(models_);  // last, as it may take seconds
  phase_ = Phase::ready;
  return {};
}

Result<void> Service::check_alive() {
  if (!loaded()) return {};
  Result<void> alive = models_.target->check_alive();
  for (const auto& draft : models_.drafts) {
    if (alive) alive = draft->check_alive();
  }
  if (!alive) phase_ = Phase::failed;
  return alive;
}

std::shared_ptr<void> Service::begin_request() {
  ++active_requests_;
  return {this, [](Service* service) { --service->active_requests_; }};
}

const ModelSet& Service::models() const {
  if (!loaded()) throw ApiError::unavailable("the model is being loaded", while_loading);
  return models_;
}

const Slots& Service::slots() const {
  if (!loaded()) throw ApiError::unavailable("the model is being loaded", while_loading);
  return *slots_;
}

void Service::check_ready() const {
  const Phase phase = phase_;
  if (phase == Phase::loading) throw ApiError::unavailable("the model is being loaded", while_loading);
  if (phase == Phase::failed)
    throw ApiError::unavailable("the model cannot be computed any more", while_stopping);
  if (phase != Phase::ready) throw ApiError::unavailable("the server is stopping", while_stopping);
}

Slots& Service::open_slots() {
  if (phase_ != Phase::ending) check_ready();
  return *slots_;
}

int Service::retry_after() const {
  const Counts counts = slots_->counts();
  const double seconds = counts.prompt_seconds + counts.generation_seconds;
  const double texts = static_cast<double>(std::max<std::uint64_t>(counts.finished + counts.cancelled, 1));
  const double ahead = static_cast<double>(slots_->queued()) / static_cast<double>(options_.slots.slots);
  return std::clamp(static_cast<int>(ahead * seconds / texts), 1, longest);
}

}  // namespace spectr::server
