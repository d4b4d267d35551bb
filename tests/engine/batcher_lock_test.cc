// The batcher's lock: while a thread prepares a pass, no other thread changes or reads the state it uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spectr/engine/batcher.h"
#include "tests/support/blank_session.h"

namespace spectr {
namespace {

/// A session that calls `asked` whenever `copyable` is queried, which the
/// batcher does while it prepares a pass.
class AskedSession final : public test::BlankSession {
 public:
  explicit AskedSession(const std::function<void()>& asked) : asked_(asked) {}

  std::size_t copyable(std::size_t) const override {
    asked_();
    return 0;
  }

 private:
  const std::function<void()>& asked_;
};

class AskedModel final : public LanguageModel {
 public:
  std::string_view name() const override { return "asked"; }
  std::size_t vocabulary() const override { return test::BlankSession::words; }
  std::size_t context() const override { return test::BlankSession::longest; }
  Result<std::unique_ptr<Session>> start(std::size_t, std::size_t) const override {
    return std::make_unique<AskedSession>(asked);
  }
  std::function<void()> asked = [] {};
};

/// A batcher that prepares a pass, during which it asks one session what another can copy of it.
class BatcherLock : public testing::Test {
 protected:
  /// Returns true if another thread can complete `action` while the pass is prepared.
  /// `begin` is called before the pass.
  bool can_meanwhile(std::function<void()> action, const std::function<void()>& begin = [] {}) {
    std::future<void> done;
    bool was_done = false;
    model_.asked = [&] {
      if (done.valid()) return;
      done = std::async(std::launch::async, std::move(action));
      was_done = done.wait_for(std::chrono::milliseconds(300)) == std::future_status::ready;
    };
    session_->rewind(0);
    const std::vector<Token> sequence(10 * Batcher::worth_copying, 1);
    source_->end(sequence);
    const Batcher::ActiveSequence active(batcher_);
    begin();
    EXPECT_TRUE(session_->score(sequence, TokenTree(1)));
    EXPECT_TRUE(done.valid()) << "no session was asked";
    if (done.valid()) done.get();
    model_.asked = [] {};
    return was_done;
  }

  AskedModel model_;
  const LanguageModel* const models_[1] = {&model_};
  // Passes wait for all active sequences.
  Batcher batcher_{models_, 3, {.patience = std::numeric_limits<double>::infinity()}};
  const std::unique_ptr<BatchedSession> session_ = batcher_.start(model_, 0, 1).value();
  const std::unique_ptr<BatchedSession> source_ = batcher_.start(model_, 0, 1).value();
};

TEST_F(BatcherLock, NoSessionBeginsWhileAPassIsPrepared) {
  std::unique_ptr<BatchedSession> another;
  EXPECT_FALSE(can_meanwhile([&] { another = batcher_.start(model_, 0, 1).value(); }));
}

TEST_F(BatcherLock, NoSessionEndsWhileAPassIsPrepared) {
  auto another = batcher_.start(model_, 0, 1).value();
  EXPECT_FALSE(can_meanwhile([&] { another.reset(); }));
}

// An active sequence uses its sessions concurrently with other passes, whose preparation reads them.
TEST_F(BatcherLock, NoSessionChangesWhileAPassIsPrepared) {
  const std::vector<Token> sequence = {1, 1};
  EXPECT_FALSE(can_meanwhile([&] { source_->begin(0, {}); }));
  EXPECT_FALSE(can_meanwhile([&] { source_->keep({}); }));
  EXPECT_FALSE(can_meanwhile([&] { source_->rewind(0); }));
  EXPECT_FALSE(can_meanwhile([&] { source_->end(sequence); }));
}

TEST_F(BatcherLock, NoSequenceBecomesActiveWhileAPassIsPrepared) {
  std::optional<Batcher::ActiveSequence> another;
  EXPECT_FALSE(can_meanwhile([&] { another.emplace(batcher_); }));
}

TEST_F(BatcherLock, NoSequenceLeavesWhileAPassIsPrepared) {
  std::optional<Batcher::ActiveSequence> another(std::in_place, batcher_);
  // The pass is for both, so it begins when the other sequence waits for it, too.
  const auto other = batcher_.start(model_, 0, 1).value();
  const std::vector<Token> brief = {1};
  std::future<bool> scores;
  const auto score_other = [&] {
    scores = std::async(std::launch::async, [&] { return other->score(brief, TokenTree(1)).has_value(); });
  };
  EXPECT_FALSE(can_meanwhile([&] { another.reset(); }, score_other));
  EXPECT_TRUE(scores.get());
}

TEST_F(BatcherLock, NoCountsAreReadWhileAPassIsPrepared) {
  EXPECT_FALSE(can_meanwhile([&] { (void)batcher_.counts(); }));
  EXPECT_FALSE(can_meanwhile([&] { (void)batcher_.waiting(); }));
}

}  // namespace
}  // namespace spectr
