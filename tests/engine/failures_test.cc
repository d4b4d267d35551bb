// Completions whose passes fail, with and without a simultaneous cancellation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/engine/engine.h"
#include "spectr/nn/forwarding_ops.h"
#include "tests/support/data.h"
#include "tests/support/wrapping_backend.h"

namespace spectr {
namespace {

/// Ops that call a hook at the end of each pass.
class HookedOps final : public ForwardingOps {
 public:
  using Hook = std::function<Result<void>()>;

  HookedOps(std::unique_ptr<Ops> ops, const Hook* hook) : ForwardingOps(std::move(ops)), hook_(hook) {}

  Result<HeldLogits> finish() override {
    SPECTR_TRY(HeldLogits logits, ForwardingOps::finish());
    if (*hook_) SPECTR_TRY_VOID((*hook_)());
    return logits;
  }

 private:
  const Hook* hook_;
};

class FailingPasses : public testing::Test {
 protected:
  FailingPasses() {
    const auto file = *find_data("models/stories260K-f32.gguf");
    auto models = std::make_shared<EngineModels>();
    models->pool = std::make_unique<ThreadPool>(1);
    models->tokenizer = Tokenizer::load(Gguf::open(file).value()).value();
    models->target =
        Transformer::load(Gguf::open(file).value(),
                          std::make_shared<test::WrappingBackend<HookedOps, const HookedOps::Hook*>>(
                              std::make_unique<CpuBackend>(*models->pool), &hook_))
            .value();
    models->context = models->target->context();
    engine_ = Engine::start(std::move(models)).value();
  }

  /// Generates eight tokens by plain decoding. `fault` runs in the third pass, after its logits are ready.
  CompletionResult run(const std::function<Result<void>(Completion&)>& fault) {
    Request request;
    request.prompts = {{1, 2, 3}};
    request.method.method = "plain";
    request.limit = 8;
    request.ignore_eos = true;
    std::atomic<Completion*> running = nullptr;
    int passes = 0;
    hook_ = [&]() -> Result<void> {
      if (++passes != 3 || !fault) return {};
      return fault(*running);  // `running` is set by the first block's event
    };
    const auto completion = engine_->submit(engine_->prepare(std::move(request)).value(),
                                            [&running](Completion& news) { running = &news; });
    completion->wait();
    return completion->take(0).result.value();
  }

  HookedOps::Hook hook_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(FailingPasses, EndACompletionWithTheCodeOfTheirError) {
  const CompletionResult lost =
      run([](Completion&) -> Result<void> { return error(ErrorCode::device_lost, "GPU7 was lost"); });
  EXPECT_EQ(lost.reason, FinishReason::failed);
  EXPECT_EQ(lost.failure.code, ErrorCode::device_lost);
  EXPECT_THAT(lost.failure.message, testing::HasSubstr("GPU7 was lost"));
  const CompletionResult full = run([](Completion&) -> Result<void> { throw std::bad_alloc(); });
  EXPECT_EQ(full.reason, FinishReason::failed);
  EXPECT_EQ(full.failure.code, ErrorCode::out_of_memory);
  EXPECT_EQ(run({}).reason, FinishReason::limit) << "the next completion is not affected";
  EXPECT_EQ(engine_->slots().counts().failed, 2u);
}

TEST_F(FailingPasses, AreNotHiddenByACancellation) {
  const CompletionResult both = run([](Completion& running) -> Result<void> {
    running.cancel();
    return error(ErrorCode::device_lost, "GPU7 was lost");
  });
  EXPECT_EQ(both.reason, FinishReason::failed);
  EXPECT_EQ(both.failure.code, ErrorCode::device_lost);
  EXPECT_EQ(engine_->slots().counts().failed, 1u);
  EXPECT_EQ(engine_->slots().counts().cancelled, 0u);
  const CompletionResult cancelled = run([](Completion& running) -> Result<void> {
    running.cancel();
    return {};
  });
  EXPECT_EQ(cancelled.reason, FinishReason::cancelled);
  EXPECT_EQ(engine_->slots().counts().failed, 1u);
}

TEST(ErrorCodes, TellKindsOfErrorsApart) {
  EXPECT_EQ(EngineModels::load({.target = "/nowhere/model.gguf"}).error().code, ErrorCode::io);
  EXPECT_EQ(EngineModels::load({.target = find_data("data/stories.jsonl").value()}).error().code,
            ErrorCode::bad_input);
  EngineOptions options;
  options.models = {.target = find_data("models/stories260K-f32.gguf").value(), .context = 32};
  const auto engine = Engine::load(std::move(options)).value();
  Request request;
  request.prompts = {std::vector<Token>(33, 5)};
  EXPECT_EQ(engine->prepare(request).error().code, ErrorCode::context_full);
  request.prompts = {{-1}};
  EXPECT_EQ(engine->prepare(request).error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace spectr
