#include "apps/server/models/served_models.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "apps/server/api_error.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr int while_loading = 2, while_stopping = 30;  // seconds until a retry
constexpr std::size_t max_named = 20;                  // models in a message
constexpr std::size_t max_name = 200;                  // bytes of a name in a message

using Requests = std::vector<std::shared_ptr<WaitingRequest>>;

/// Returns the requests that still wait, and forgets all of them.
Requests take_waiting(std::vector<std::weak_ptr<WaitingRequest>>& waiting) {
  Requests requests;
  for (const auto& one : std::exchange(waiting, {})) {
    if (auto request = one.lock()) requests.push_back(std::move(request));
  }
  return requests;
}

void wake(const Requests& requests) {
  for (const auto& request : requests) {
    if (request->wake) request->wake();
  }
}

/// Loads a model. Exceptions, such as that of missing memory, become errors.
Result<void> load(Service& service) {
  try {
    return service.load();
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::internal, "{}: out of memory", service.name());
  } catch (const std::exception& failure) {
    return error(ErrorCode::internal, "{}: {}", service.name(), failure.what());
  }
}

Error stopping() {
  return {"the server is stopping", ErrorCode::cancelled};
}

}  // namespace

bool ServedModels::Model::is_named(std::string_view name) const {
  return name == name_of(options) || std::ranges::find(options.aliases, name) != options.aliases.end();
}

ServedModels::ServedModels(ServiceOptions only) : several_(false), limits_({.max_loaded = 1}) {
  models_.push_back({.options = std::move(only)});
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

ServedModels::ServedModels(std::vector<ServiceOptions> models, ModelLimits limits)
    : several_(true), limits_(limits) {
  models_.reserve(models.size());
  for (ServiceOptions& options : models) models_.push_back({.options = std::move(options)});
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

ServedModels::~ServedModels() = default;

Result<void> ServedModels::load() {
  Requests starting;
  {
    const Lock lock(mutex_);
    for (Model& model : models_) {
      if (several_ && !model.options.loads_at_start) continue;
      starting.push_back(std::make_shared<WaitingRequest>());
      model.waiting.push_back(starting.back());
      enqueue(model);
    }
  }
  for (const auto& request : starting) {
    ModelLease lease;  // released without the lock
    Lock lock(mutex_);
    changed_.wait(lock, [&] { return request->lease || request->failure; });
    if (request->failure) {
      const bool is_unloaded = several_ && !draining_ && request->failure->code == ErrorCode::cancelled;
      if (is_unloaded) continue;  // by a client, before its turn
      return std::unexpected(*request->failure);
    }
    lease = std::move(request->lease);
  }
  const Lock lock(mutex_);
  started_ = true;
  return {};
}

std::shared_ptr<WaitingRequest> ServedModels::ask(std::string_view name, Demand demand, http::Wake wake) {
  const auto request = std::make_shared<WaitingRequest>();
  const Lock lock(mutex_);
  Model& model = several_ ? find(name, 400) : models_.front();
  if (demand.counts) model.last_used = ++uses_;
  if (model.status == ModelStatus::loaded) {
    request->lease = lease(model);
    return request;
  }
  check_single();
  if (draining_) throw ApiError::unavailable(stopping().message, while_stopping);
  if (!demand.loads) throw ApiError::invalid(fmt::format("model '{}' is not loaded", name_of(model.options)));
  std::erase_if(model.waiting, [](const auto& one) { return one.expired(); });
  const SlotOptions& slots = model.options.engine.slots;
  const std::size_t limit = slots.slots + slots.queue;
  if (model.waiting.size() >= limit) throw ApiError::queue_full(limit, while_loading);
  request->deadline = request->arrival + model.options.timeout;
  request->wake = std::move(wake);
  model.waiting.push_back(request);
  enqueue(model);
  return request;
}

ModelLease ServedModels::take(WaitingRequest& waiting) {
  const Lock lock(mutex_);
  if (waiting.failure) {
    // A file that cannot be loaded is no mistake of the request, whatever the reason.
    const bool is_cancelled = waiting.failure->code == ErrorCode::cancelled;
    throw is_cancelled ? ApiError::of(*waiting.failure) : ApiError::internal(waiting.failure->message);
  }
  if (!waiting.lease && std::chrono::steady_clock::now() > waiting.deadline)
    throw ApiError::timeout("the model was not loaded within the time of a request");
  return std::move(waiting.lease);
}

void ServedModels::begin_load(std::string_view name) {
  const Lock lock(mutex_);
  Model& model = find(name, 404);
  const bool is_running = model.status == ModelStatus::loading || model.status == ModelStatus::loaded;
  if (is_running || is_queued(model))
    throw ApiError::invalid(fmt::format("model '{}' is already running", name_of(model.options)));
  if (draining_) throw ApiError::unavailable(stopping().message, while_stopping);
  model.last_used = ++uses_;
  enqueue(model);
}

void ServedModels::begin_unload(std::string_view name) {
  Requests given_up;
  {
    const Lock lock(mutex_);
    Model& model = find(name, 400);
    if (is_queued(model)) {
      std::erase(queue_, &model);
      given_up = take_waiting(model.waiting);
    } else if (model.status == ModelStatus::loading) {
      model.unloads_next = true;
    } else if (model.status == ModelStatus::loaded) {
      model.status = ModelStatus::unloading;
    } else {
      throw ApiError::invalid(fmt::format("model '{}' is not running", name_of(model.options)));
    }
    changed_.notify_all();
  }
  fail(std::move(given_up), {"the model was unloaded before its turn to be loaded", ErrorCode::cancelled});
}

std::vector<ModelState> ServedModels::states() {
  std::vector<ModelState> states;
  const Lock lock(mutex_);
  check_single();
  for (Model& model : models_) states.push_back(state_of(model));
  return states;
}

ModelState ServedModels::state(std::string_view name) {
  const Lock lock(mutex_);
  check_single();
  return state_of(find(name, 404));
}

void ServedModels::announce_end() {
  const Lock lock(mutex_);
  ending_ = true;
  for (Model& model : models_) {
    if (model.service) model.service->announce_end();
  }
}

void ServedModels::drain() {
  Requests given_up;
  {
    const Lock lock(mutex_);
    ending_ = draining_ = true;
    queue_.clear();
    for (Model& model : models_) {
      if (model.service) model.service->drain();
      for (auto& request : take_waiting(model.waiting)) given_up.push_back(std::move(request));
    }
  }
  fail(std::move(given_up), stopping());
}

void ServedModels::cancel_all() {
  for (const ModelLease& model : loaded()) model->cancel_all();
}

bool ServedModels::idle() {
  const Lock lock(mutex_);
  return std::ranges::all_of(models_, [](const Model& model) { return model.leases == 0; });
}

bool ServedModels::loading() {
  const Lock lock(mutex_);
  return std::ranges::find(models_, ModelStatus::loading, &Model::status) != models_.end();
}

void ServedModels::check_ready() {
  {
    const Lock lock(mutex_);
    if (!started_) throw ApiError::unavailable("the model is being loaded", while_loading);
    if (ending_) throw ApiError::unavailable(stopping().message, while_stopping);
  }
  for (const ModelLease& model : loaded()) model->check_ready();
}

Result<void> ServedModels::check_alive() {
  for (const ModelLease& model : loaded()) SPECTR_TRY_VOID(model->check_alive());
  return {};
}

ServedModels::Model& ServedModels::find(std::string_view name, int status_if_unknown) {
  const auto found = std::ranges::find_if(models_, [name](const Model& one) { return one.is_named(name); });
  if (found != models_.end()) return *found;
  std::vector<std::string> names;
  for (const Model& model : models_) {
    if (names.size() < max_named) names.push_back(name_of(model.options));
  }
  const std::string all =
      fmt::format("{}{}", fmt::join(names, ", "), models_.size() > max_named ? " and others" : "");
  if (name.empty()) throw ApiError::invalid("model name is missing from the request; the models are " + all);
  const std::string message =
      fmt::format("model '{}' not found; the models are {}", escape(name, max_name), all);
  throw status_if_unknown == 404 ? ApiError::not_found(message) : ApiError::invalid(message);
}

/// Throws ApiError while a single model is being loaded: its requests do not wait for it.
void ServedModels::check_single() {
  if (!several_ && models_.front().status != ModelStatus::loaded)
    throw ApiError::unavailable("the model is being loaded", while_loading);
}

ModelLease ServedModels::lease(Model& model) {
  ++model.leases;
  return {model.service.get(), [this, &model](Service*) {
            const Lock lock(mutex_);
            if (--model.leases == 0) changed_.notify_all();
          }};
}

bool ServedModels::is_queued(const Model& model) const {
  return std::ranges::find(queue_, &model) != queue_.end();
}

void ServedModels::enqueue(Model& model) {
  if (model.status == ModelStatus::loading || is_queued(model)) return;
  queue_.push_back(&model);
  changed_.notify_all();
}

bool ServedModels::has_room() const {
  const auto in_memory = std::ranges::count_if(
      models_, [](const Model& model) { return model.status != ModelStatus::unloaded; });
  return limits_.max_loaded == 0 || static_cast<std::size_t>(in_memory) < limits_.max_loaded;
}

/// Returns a model that is to be unloaded and has no lease; null if there is none.
ServedModels::Model* ServedModels::unused_model() {
  const auto found = std::ranges::find_if(models_, [](const Model& model) {
    return model.status == ModelStatus::unloading && model.leases == 0;
  });
  return found == models_.end() ? nullptr : &*found;
}

/// Returns the first queued model that is not in memory; null if there is none. A model that is being
/// unloaded is loaded again after its last request.
ServedModels::Model* ServedModels::next_to_load() {
  const auto found = std::ranges::find(queue_, ModelStatus::unloaded, &Model::status);
  return found == queue_.end() ? nullptr : *found;
}

/// Returns the model that makes room for another, or null if one is being unloaded already.
ServedModels::Model* ServedModels::next_to_unload() {
  Model* next = nullptr;
  const auto order = [](const Model& model) { return std::pair(model.leases > 0, model.last_used); };
  for (Model& model : models_) {
    if (model.status == ModelStatus::unloading) return nullptr;
    if (model.status == ModelStatus::loaded && (next == nullptr || order(model) < order(*next)))
      next = &model;
  }
  return next;
}

bool ServedModels::work_is_due() {
  if (unused_model() != nullptr) return true;
  return next_to_load() != nullptr && (has_room() || next_to_unload() != nullptr);
}

void ServedModels::work(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return work_is_due(); }) && !stop.stop_requested()) {
    if (Model* const unused = unused_model()) {
      unload(*unused, lock);
    } else if (has_room()) {
      load(*next_to_load(), lock);
    } else {
      next_to_unload()->status = ModelStatus::unloading;
    }
  }
}

void ServedModels::unload(Model& model, Lock& lock) {
  std::unique_ptr<Service> service = std::move(model.service);
  lock.unlock();
  service.reset();
  if (several_) spdlog::info("{}: unloaded", name_of(model.options));
  lock.lock();
  model.status = ModelStatus::unloaded;
  changed_.notify_all();
}

void ServedModels::load(Model& model, Lock& lock) {
  std::erase(queue_, &model);
  model.status = ModelStatus::loading;
  model.failure.reset();
  lock.unlock();
  auto service = std::make_unique<Service>(model.options);
  const Result<void> loaded = server::load(*service);
  if (!loaded) service.reset();
  if (several_ && loaded) spdlog::info("{}: loaded", name_of(model.options));
  if (several_ && !loaded) spdlog::error("{}: {}", name_of(model.options), loaded.error().message);
  lock.lock();
  Requests requests = take_waiting(model.waiting);
  if (loaded) {
    if (ending_) service->announce_end();
    if (draining_) service->drain();
    model.service = std::move(service);
    model.status = std::exchange(model.unloads_next, false) ? ModelStatus::unloading : ModelStatus::loaded;
    for (const auto& request : requests) request->lease = lease(model);
  } else {
    model.failure = loaded.error();
    model.status = ModelStatus::unloaded;
    model.unloads_next = false;
    for (const auto& request : requests) request->failure = loaded.error();
  }
  changed_.notify_all();
  lock.unlock();
  wake(requests);
  requests.clear();  // without the lock, because a request whose client has left releases its lease
  lock.lock();
}

ModelState ServedModels::state_of(Model& model) {
  ModelState state{.options = &model.options, .status = model.status, .failure = model.failure};
  if (model.status == ModelStatus::unloaded && is_queued(model)) state.status = ModelStatus::loading;
  if (model.status == ModelStatus::loaded) state.lease = lease(model);
  return state;
}

void ServedModels::fail(const Requests& requests, const Error& failure) {
  {
    const Lock lock(mutex_);
    for (const auto& request : requests) request->failure = failure;
    changed_.notify_all();
  }
  wake(requests);
}

std::vector<ModelLease> ServedModels::loaded() {
  std::vector<ModelLease> models;
  const Lock lock(mutex_);
  for (Model& model : models_) {
    if (model.service) models.push_back(lease(model));
  }
  return models;
}

}  // namespace spectr::server
