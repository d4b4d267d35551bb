// Requests cancelled at any stage release all resources and do not affect other requests.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/engine/engine.h"
#include "tests/engine/bundled.h"

namespace spectr {
namespace {

constexpr std::string_view tried_methods[] = {"plain", "spectr", "traversal", "conditional", "ngram"};
constexpr std::string_view tried_openings[] = {"Once upon a time", "Tom had a red ball.",
                                               "The sun was hot, and"};
constexpr std::size_t slot_count = 3;

/// The stage at which a request is cancelled. Most requests are queued until others of their round have
/// ended.
enum class Stage { never, queued, reading, drafting_or_selecting, at_the_first_text, at_the_third_text };
constexpr std::size_t stage_count = 6;

/// Counts the rows of logits that a completion turns into distributions while it drafts and selects, and
/// cancels it at one of them.
class RowCounter final : public LogitRule {
 public:
  /// Zero never cancels.
  explicit RowCounter(int row) : left_(row) {}
  void set_completion(Completion& completion) {
    completion_ = &completion;
    completion_.notify_all();
  }
  Result<void> apply(std::span<const Token>, std::span<double>) const override {
    if (--left_ != 0) return {};
    completion_.wait(nullptr);
    completion_.load()->cancel();
    return {};
  }

 private:
  mutable std::atomic<int> left_;
  std::atomic<Completion*> completion_ = nullptr;
};

/// A running request.
struct CancelledRun {
  std::size_t kind;
  Stage stage;
  std::shared_ptr<RowCounter> rows;
  std::string text = {};
  int texts = 0;  // number of events with text
  std::optional<CompletionResult> result = {};
  std::shared_ptr<Completion> completion = nullptr;

  /// Takes the next event, and cancels at the stage.
  void listen(Completion& news) {
    const CompletionEvent event = news.take(0);
    text += event.delta.text;
    texts += event.delta.text.empty() ? 0 : 1;
    if (event.result) result = event.result;
    const bool now = (stage == Stage::reading && !event.progress.empty()) ||
                     (stage == Stage::at_the_first_text && texts >= 1) ||
                     (stage == Stage::at_the_third_text && texts >= 3);
    if (now) news.cancel();
  }
};

Request request_of_kind(std::size_t kind) {
  Request request;
  std::string prompt(tried_openings[kind % std::size(tried_openings)]);
  for (std::size_t i = 0; i < 4 * (kind % 7); ++i)
    prompt += " Then he went to the park and saw a big dog there.";
  request.prompts = {test::bundled_models()->tokenizer->encode(prompt)};
  request.method.method = tried_methods[kind % std::size(tried_methods)];
  request.sampling.temperature = 1.0;
  request.limit = 16 + kind % 9;
  request.seed = kind;
  request.report_progress = true;
  return request;
}

std::unique_ptr<Engine> engine_of(std::size_t count) {
  return Engine::start(test::bundled_models(), {.slots = {.slots = count, .queue = 128, .max_nodes = 65}})
      .value();
}

/// Starts a run, which is cancelled at this row of logits if its stage is that of drafting and selecting.
std::unique_ptr<CancelledRun> start_run(Engine& engine, std::size_t kind, Stage stage, int row = 0) {
  const auto rows = std::make_shared<RowCounter>(stage == Stage::drafting_or_selecting ? row : 0);
  auto run = std::make_unique<CancelledRun>(kind, stage, rows);
  PreparedRequest request = *engine.prepare(request_of_kind(kind)).value();
  request.rules = {rows};
  run->completion = engine.submit(std::make_shared<const PreparedRequest>(std::move(request)),
                                  [at = run.get()](Completion& news) { at->listen(news); });
  rows->set_completion(*run->completion);
  return run;
}

TEST(Cancellation, AtAnyStageLeavesOthersAloneAndGivesMemoryBack) {
  constexpr std::size_t kinds = 20, runs = 30;
  std::vector<std::string> alone;
  {
    const auto one = engine_of(1);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      const auto run = start_run(*one, kind, Stage::never);
      ASSERT_TRUE(run->completion->wait());
      alone.push_back(run->text);
    }
  }
  const Transformer &target = *test::bundled_models()->target, &draft = *test::bundled_models()->drafts[0];
  const std::size_t before = target.used_bytes(), before_of_draft = draft.used_bytes();
  auto some = engine_of(slot_count);
  std::mt19937 random(7);
  for (std::uint64_t round = 1; round <= 2; ++round) {
    std::vector<std::unique_ptr<CancelledRun>> all;
    for (std::size_t i = 0; i < runs; ++i) {
      const std::size_t kind = random() % kinds;
      const auto stage = static_cast<Stage>(random() % stage_count);
      all.push_back(start_run(*some, kind, stage, static_cast<int>(1 + random() % 40)));
    }
    for (const auto& run : all) {
      if (run->stage == Stage::queued) run->completion->cancel();
    }
    for (const auto& run : all) {
      ASSERT_TRUE(run->completion->wait());
      ASSERT_TRUE(run->result.has_value());
      EXPECT_NE(run->result->reason, FinishReason::failed) << run->result->failure.message;
      if (run->stage == Stage::never) {
        EXPECT_EQ(run->text, alone[run->kind]);
      } else {
        EXPECT_TRUE(alone[run->kind].starts_with(run->text)) << "what was told is the text's beginning";
      }
    }
    const EngineCounts counts = some->slots().counts();
    EXPECT_EQ(counts.finished + counts.cancelled, runs * round);
  }
  // Only a short text remains in each slot.
  std::vector<std::shared_ptr<Completion>> last;
  for (std::size_t i = 0; i < slot_count; ++i) {
    Request request = request_of_kind(0);
    request.prompts = {std::vector<Token>(3, static_cast<Token>(300 + i))};
    request.limit = 60;
    request.ignore_eos = true;
    last.push_back(some->submit(some->prepare(std::move(request)).value()));
  }
  for (const auto& completion : last) completion->wait();
  // One block, plus the blocks that a tree's slots can need.
  EXPECT_LE(target.used_bytes() - before, slot_count * target.session_bytes(191, 1));
  last.clear();
  some.reset();
  EXPECT_EQ(target.used_bytes(), before);
  EXPECT_EQ(draft.used_bytes(), before_of_draft);
}

TEST(Cancellation, OfAQueuedRequestTellsAListenerThatUsesTheEngine) {
  const auto engine = engine_of(1);
  Request endless = request_of_kind(0);
  endless.limit = 400;
  endless.ignore_eos = true;
  const auto running = engine->submit(engine->prepare(std::move(endless)).value());
  std::shared_ptr<Completion> next;
  const auto queued =
      engine->submit(engine->prepare(request_of_kind(1)).value(), [&](Completion& news) {
        if (news.take(0).result) next = engine->submit(engine->prepare(request_of_kind(2)).value());
      });
  queued->cancel();
  const auto later = engine->submit(engine->prepare(request_of_kind(3)).value());
  ASSERT_TRUE(queued->wait());
  ASSERT_NE(next, nullptr);
  running->cancel();
  EXPECT_TRUE(later->wait());
  EXPECT_TRUE(next->wait());
  EXPECT_EQ(engine->slots().unfinished(), 0u);
}

}  // namespace
}  // namespace spectr
