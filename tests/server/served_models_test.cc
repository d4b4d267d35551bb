// The order in which models are loaded and unloaded, without connections.
#include "apps/server/models/served_models.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <variant>

#include "apps/server/api_error.h"
#include "apps/server/models/model_request.h"
#include "tests/server/several_models.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;

constexpr ServedModels::Demand use{.loads = true, .counts = true};

/// Returns the status of the error that waiting ends with, or 0 if it ends with a lease.
int status_of(ServedModels& models, WaitingRequest& request) {
  try {
    EXPECT_TRUE(comes_true([&] { return models.take(request) != nullptr; }));
    return 0;
  } catch (const ApiError& failure) {
    return failure.status();
  }
}

ModelLease lease_of(ServedModels& models, WaitingRequest& request) {
  ModelLease lease;
  EXPECT_TRUE(comes_true([&] {
    lease = models.take(request);
    return lease != nullptr;
  }));
  return lease;
}

class IgnoredAnswer final : public http::Sink {
 public:
  void send(http::Response) override {}
  void begin(http::Response, std::string) override {}
  void write(std::string_view) override {}
  void end() override {}
  void note(std::string, http::Note) override {}
};

TEST(ServedModels, UnloadAModelAfterItsLastRequestAndServeTheNextOneByLoadingItAgain) {
  const SeveralModels several;
  ServedModels models(several.offers(), {});
  models.load().value();
  ModelLease running = lease_of(models, *models.ask("first", use, {}));
  models.begin_unload("first");
  EXPECT_EQ(models.state("first").status, ModelStatus::unloading);
  const auto next = models.ask("first", use, {});
  EXPECT_EQ(models.take(*next), nullptr) << "the model takes no further requests";
  EXPECT_NE(running->engine().context(), 0u) << "and is there for the running one";
  lease_of(models, *models.ask("second", use, {}));
  EXPECT_EQ(models.state("first").status, ModelStatus::unloading) << "there is room, but it is in use";
  EXPECT_EQ(several.loads(), 2);
  running.reset();
  EXPECT_NE(lease_of(models, *next), nullptr);
  EXPECT_EQ(several.loads(), 3);
}

TEST(ServedModels, UnloadAnIdleModelBeforeABusyOneThatWasUsedEarlier) {
  const SeveralModels several;
  ServedModels models(several.offers(), {.max_loaded = 2});
  models.load().value();
  const ModelLease busy = lease_of(models, *models.ask("first", use, {}));
  lease_of(models, *models.ask("second", use, {}));
  lease_of(models, *models.ask("third", use, {}));
  EXPECT_EQ(models.state("first").status, ModelStatus::loaded);
  EXPECT_EQ(models.state("second").status, ModelStatus::unloaded);
}

TEST(ServedModels, UnloadTheOneThatWasLoadedFirstIfNoneWasUsed) {
  const SeveralModels several;
  ServedModels models(several.offers(), {.max_loaded = 2});
  models.load().value();
  for (const char* name : {"second", "first", "third"}) {
    models.begin_load(name);
    EXPECT_TRUE(comes_true([&] { return models.state(name).status == ModelStatus::loaded; })) << name;
  }
  EXPECT_EQ(models.state("first").status, ModelStatus::loaded);
  EXPECT_EQ(models.state("second").status, ModelStatus::unloaded);
}

TEST(ServedModels, GiveWayToAWaitingModelEvenIfAllAreBusy) {
  const SeveralModels several;
  ServedModels models(several.offers(), {.max_loaded = 1});
  models.load().value();
  ModelLease busy = lease_of(models, *models.ask("first", use, {}));
  const auto other = models.ask("second", use, {});
  ASSERT_TRUE(comes_true([&] { return models.state("first").status == ModelStatus::unloading; }));
  const auto later = models.ask("first", use, {});
  EXPECT_EQ(models.take(*other), nullptr);
  busy.reset();
  ModelLease second = lease_of(models, *other);
  EXPECT_EQ(models.take(*later), nullptr);
  second.reset();
  EXPECT_NE(lease_of(models, *later), nullptr);
}

TEST(ServedModels, GiveALoadedModelToItsRequestBeforeItMakesRoomForAnother) {
  const SeveralModels several;
  ServedModels models(several.offers(), {.max_loaded = 1});
  models.load().value();
  const auto first = models.ask("first", use, {});
  const auto second = models.ask("second", use, {});
  lease_of(models, *first);
  lease_of(models, *second);
  EXPECT_EQ(several.loads(), 2) << "neither was unloaded before it was used";
}

TEST(ServedModels, ReleaseTheLeaseOfARequestWhoseClientHasLeft) {
  const SeveralModels several;
  ServedModels models(several.offers(), {.max_loaded = 1});
  models.load().value();
  models.ask("first", use, {});  // nobody waits for it
  lease_of(models, *models.ask("second", use, {}));
  EXPECT_TRUE(comes_true([&] { return models.idle(); }));
}

TEST(ServedModels, EndTheWaitOfRequestsThatTakeTooLongOrWhoseServerStops) {
  const SeveralModels several;
  std::vector<ServiceOptions> offers = several.offers();
  offers[1].timeout = 0s;
  ServedModels models(std::move(offers), {.max_loaded = 1});
  models.load().value();
  const ModelLease busy = lease_of(models, *models.ask("first", use, {}));
  EXPECT_EQ(status_of(models, *models.ask("second", use, {})), 504);
  bool woken = false;
  const auto stopped = models.ask("third", use, [&woken] { woken = true; });
  models.drain();
  EXPECT_TRUE(woken);
  EXPECT_EQ(status_of(models, *stopped), 503);
  EXPECT_THROW(models.ask("third", use, {}), ApiError);
  EXPECT_THROW(busy->open_engine(), ApiError);
}

TEST(ServedModels, BoundTheRequestsThatWaitForAModel) {
  const SeveralModels several;
  std::vector<ServiceOptions> offers = several.offers();
  offers[1].engine.slots = {.slots = 1, .queue = 1};
  ServedModels models(std::move(offers), {.max_loaded = 1});
  models.load().value();
  const ModelLease busy = lease_of(models, *models.ask("first", use, {}));
  const auto a = models.ask("second", use, {});
  auto b = models.ask("second", use, {});
  EXPECT_THROW(models.ask("second", use, {}), ApiError);
  b.reset();
  EXPECT_NO_THROW(models.ask("second", use, {})) << "a client has left";
}

TEST(ServedModels, GiveARequestNoFurtherTimeAfterItHasWaitedForItsModel) {
  const SeveralModels several;
  std::vector<ServiceOptions> offers = several.offers();
  std::promise<void> released;
  hold(offers[0], released);
  const auto timeout = offers[0].timeout;
  ServedModels models(std::move(offers), {});
  models.load().value();
  const http::Request request{.method = "POST", .body = R"({"model": "first"})"};
  std::optional<ModelRequest::Clock::time_point> deadline;
  const ModelHandle handle = [&](const ModelRequest& asked) -> http::Answer {
    deadline = asked.deadline();
    return http::Response{};
  };
  const http::Answer answer = with_model(models, request, {}, handle, &ApiError::json);
  const auto asked = ModelRequest::Clock::now();
  EXPECT_TRUE(comes_true([&] { return models.state("first").status == ModelStatus::loading; }));
  released.set_value();
  IgnoredAnswer sink;
  EXPECT_TRUE(comes_true([&] {
    std::get<std::unique_ptr<http::Reply>>(answer)->advance(sink);
    return deadline.has_value();
  }));
  EXPECT_LE(deadline.value(), asked + timeout);
}

TEST(ServedModels, StartWithoutAModelThatIsUnloadedBeforeItsTurn) {
  const SeveralModels several;
  std::vector<ServiceOptions> offers = several.offers();
  offers[0].loads_at_start = offers[1].loads_at_start = true;
  std::promise<void> unloaded;
  hold(offers[0], unloaded);
  ServedModels models(std::move(offers), {});
  auto started = std::async(std::launch::async, [&models] { return models.load(); });
  EXPECT_TRUE(comes_true([&] { return models.state("second").status == ModelStatus::loading; }));
  models.begin_unload("second");
  unloaded.set_value();
  EXPECT_TRUE(started.get());
  EXPECT_EQ(models.state("first").status, ModelStatus::loaded);
  EXPECT_EQ(models.state("second").status, ModelStatus::unloaded);
}

TEST(ServedModels, FailToStartIfAModelThatIsLoadedAtStartIsNone) {
  const SeveralModels several;
  std::vector<ServiceOptions> offers = several.offers();
  offers[0].loads_at_start = offers[1].loads_at_start = true;
  ServedModels good(offers, {.max_loaded = 1});
  EXPECT_TRUE(good.load());
  EXPECT_EQ(good.state("second").status, ModelStatus::loaded);
  offers[3].loads_at_start = true;
  ServedModels bad(std::move(offers), {});
  const auto started = bad.load();
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().message.contains(several.broken())) << started.error().message;
}

}  // namespace
}  // namespace spectr::server
