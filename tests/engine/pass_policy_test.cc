// The start of passes, and the selection of their participants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "spectr/engine/batcher.h"
#include "spectr/engine/slot_pool.h"
#include "tests/support/blank_session.h"
#include "tests/support/comes_true.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

/// A model that takes pieces of ten tokens and records the participants of passes by their first tokens.
class CountingModel final : public LanguageModel {
 public:
  static constexpr std::size_t tokens_of_piece = 10;

  std::string_view name() const override { return "counting"; }
  std::size_t vocabulary() const override { return test::BlankSession::words; }
  std::size_t context() const override { return test::BlankSession::longest; }
  std::size_t piece() const override { return tokens_of_piece; }
  Result<std::unique_ptr<Session>> start(std::size_t, std::size_t) const override {
    return std::make_unique<test::BlankSession>();
  }
  std::size_t score_together(std::span<Scoring> scorings) const override {
    std::vector<Token> here;
    std::size_t rows = 0;
    for (Scoring& scoring : scorings) {
      auto& session = static_cast<test::BlankSession&>(*scoring.session);
      const std::size_t left = scoring.text.size() - session.length(),
                        taken = std::min({left, tokens_of_piece, scoring.max_piece});
      session.advance(taken);
      scoring.complete = taken == left;
      rows += std::max<std::size_t>(taken, 1);
      here.push_back(scoring.text.front());
      largest_piece = std::max(largest_piece, taken);
    }
    std::this_thread::sleep_for(pass);
    passes.push_back(std::move(here));
    rows_of.push_back(rows);
    return rows;
  }

  std::chrono::milliseconds pass{0};
  mutable std::vector<std::vector<Token>> passes;  // passes are run one at a time
  mutable std::vector<std::size_t> rows_of;        // by pass
  mutable std::size_t largest_piece = 0;
};

class PassPolicyTest : public testing::Test {
 protected:
  static constexpr double for_all = std::numeric_limits<double>::infinity();

  /// Starts a thread that scores a text of `size` tokens, then `blocks` more tokens one by one.
  std::jthread write(Batcher& batcher, Token first, std::size_t size, std::size_t blocks = 0) {
    auto seat = std::make_shared<Batcher::ActiveSequence>(batcher);
    return std::jthread([this, &batcher, first, size, blocks, seat]() mutable {
      const auto session = batcher.start(model_, 0, 1).value();
      session->begin(0, {.all = false});
      std::vector<Token> text(size, 0);
      text.front() = first;
      for (std::size_t block = 0; block <= blocks; ++block, text.push_back(0))
        EXPECT_TRUE(session->score(text, TokenTree(text.back())));
      seat.reset();
    });
  }

  CountingModel model_;
  const LanguageModel* const models_[1] = {&model_};
};

TEST_F(PassPolicyTest, PromptsTakeTurnsBesideTextsThatHaveBegun) {
  Batcher batcher(models_, 4, {.max_rows = 12, .patience = for_all});
  std::vector<std::jthread> threads;
  {
    const Batcher::ActiveSequence late(batcher);  // delays the first pass until all have arrived
    threads.push_back(write(batcher, 1, 2, 8));
    for (const Token first : {2, 3}) threads.push_back(write(batcher, first, 30));
    ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() == 3; }, 1ms));
  }
  threads.clear();
  std::vector<Token> turns;
  for (const std::vector<Token>& pass : model_.passes) {
    EXPECT_LE(std::ranges::count_if(pass, [](Token one) { return one > 1; }), 1);
    std::ranges::copy_if(pass, std::back_inserter(turns), [](Token one) { return one > 1; });
  }
  ASSERT_THAT(turns, SizeIs(6)) << "three pieces of each";
  EXPECT_EQ(std::ranges::adjacent_find(turns), turns.end());
  const auto has_one = [](const auto& pass) { return std::ranges::find(pass, 1) != pass.end(); };
  EXPECT_EQ(std::ranges::count_if(model_.passes, has_one), 9);
}

TEST_F(PassPolicyTest, NoPassThatReadsPromptsHasMoreRowsThanThePolicySays) {
  constexpr std::size_t max_rows = 6;  // smaller than a piece
  Batcher batcher(models_, 4, {.max_rows = max_rows, .patience = for_all});
  std::vector<std::jthread> threads;
  {
    const Batcher::ActiveSequence late(batcher);  // delays the first pass until all have arrived
    threads.push_back(write(batcher, 1, 2, 12));
    for (const Token first : {2, 3}) threads.push_back(write(batcher, first, 30));
    ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() == 3; }, 1ms));
  }
  threads.clear();
  EXPECT_THAT(model_.rows_of, Each(testing::Le(max_rows)));
  EXPECT_GE(model_.largest_piece, max_rows - 1) << "what is left beside a row of the text";
}

TEST_F(PassPolicyTest, PromptsTakeNoLongerThanThePolicySaysFromOthers) {
  model_.pass = 1ms;
  Batcher batcher(models_, 4, {.max_rows = 40, .max_seconds = 1e-9, .patience = for_all});
  {
    std::vector<std::jthread> threads;
    const Batcher::ActiveSequence late(batcher);
    for (const Token first : {2, 3}) threads.push_back(write(batcher, first, 10));
    ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() == 2; }, 1ms));
  }
  EXPECT_THAT(model_.rows_of, ElementsAre(20u)) << "nothing else takes part, and the pace is known now";
  std::vector<std::jthread> threads;
  {
    const Batcher::ActiveSequence late(batcher);
    threads.push_back(write(batcher, 1, 2, 12));
    threads.push_back(write(batcher, 2, 12));
    ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() == 2; }, 1ms));
  }
  threads.clear();
  EXPECT_EQ(model_.rows_of[1], 12u) << "a prompt of two tokens and a piece: nobody is past its prompt";
  for (std::size_t pass = 2; pass < model_.passes.size(); ++pass) {
    if (model_.passes[pass].size() < 2) continue;
    EXPECT_EQ(model_.rows_of[pass], 2u) << "a row of the prompt";
  }
}

TEST_F(PassPolicyTest, ShortPromptsShareAPassUpToItsRows) {
  Batcher batcher(models_, 6, {.max_rows = 12, .patience = for_all});
  std::vector<std::jthread> threads;
  {
    const Batcher::ActiveSequence late(batcher);  // delays the first pass until all have arrived
    for (const Token first : {1, 2, 3, 4, 5}) threads.push_back(write(batcher, first, 3));
    ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() == 5; }, 1ms));
  }
  threads.clear();
  EXPECT_THAT(model_.passes, ElementsAre(SizeIs(4), SizeIs(1)));
}

TEST_F(PassPolicyTest, WhoIsElsewhereHoldsAPassUpForALimitedTime) {
  Batcher batcher(models_, 2);
  const Batcher::ActiveSequence elsewhere(batcher);  // never returns to the batcher, as if its plan were slow
  write(batcher, 1, 5, 20).join();
  EXPECT_EQ(batcher.counts()[0].passes, 21u);
}

TEST_F(PassPolicyTest, WhoComesInTimeTakesPart) {
  model_.pass = 200ms;
  Batcher batcher(models_, 2, {.patience = 20.0});  // four seconds, more than any thread's delay
  auto first = write(batcher, 1, 5, 1), second = write(batcher, 2, 5, 1);
  first.join();
  second.join();
  EXPECT_THAT(model_.passes, Contains(SizeIs(2)));
  EXPECT_LE(model_.passes.size(), 3u) << "only the first pass, before any was timed, waits for nobody";
}

TEST(MaxRowsByCost, AreTheFewestOfNearlyTheHighestThroughput) {
  const CostCurve flat({{1, 1e-3}, {32, 1e-3}}), linear({{1, 1e-3}, {32, 32e-3}}),
      between({{1, 3.3e-3}, {32, 34.3e-3}}), worse({{1, 1e-3}, {16, 2e-3}, {32, 8e-3}});
  for (const std::size_t limit : {64, 512}) {
    EXPECT_EQ(max_rows_by_cost(flat, limit), limit) << "a further row costs nothing";
    EXPECT_EQ(max_rows_by_cost(linear, limit), 16) << "each row costs the same";
    EXPECT_EQ(max_rows_by_cost(worse, limit), 16) << "passes of 32 rows have half the throughput";
  }
  // n rows take n + 2.3 ms, so 98 % of the throughput of 64 and 512 rows need 40.3 and 92.1 rows.
  EXPECT_EQ(max_rows_by_cost(between, 64), 48);
  EXPECT_EQ(max_rows_by_cost(between, 512), 96);
}

TEST(MaxRowsByCost, MakeNoPassLongerThanASecondUnlessSixteenRowsAre) {
  const CostCurve slow({{1, 0.25}, {32, 0.5}}), slowest({{1, 5.0}, {32, 6.0}});
  ASSERT_LT(slow.seconds(80), 1.0);
  ASSERT_GT(slow.seconds(96), 1.0);
  EXPECT_EQ(max_rows_by_cost(slow, 512), 80);
  EXPECT_EQ(max_rows_by_cost(slow, 64), 64);
  EXPECT_EQ(max_rows_by_cost(slowest, 512), 16);
}

TEST_F(PassPolicyTest, NoneOfTwoHundredPromptsIsReadTwiceWhileAnotherWaits) {
  constexpr std::size_t texts = 200;
  Batcher batcher(models_, texts + 1, {.max_rows = 16, .patience = for_all});
  std::vector<std::jthread> threads;
  {
    const Batcher::ActiveSequence late(batcher);  // delays the first pass until all have arrived
    for (std::size_t i = 0; i < texts; ++i)
      threads.push_back(write(batcher, static_cast<Token>(i), 1 + i % 37));
    ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() == texts; }, 1ms));
  }
  threads.clear();
  for (Token prompt = 0; prompt < static_cast<Token>(texts); ++prompt) {
    std::vector<int> reads(texts);  // of each prompt since this one's last
    int most = 0, since = 0;        // the highest of them when this prompt was read, and now
    for (const std::vector<Token>& pass : model_.passes) {
      if (std::ranges::find(pass, prompt) != pass.end()) {
        most = std::max(most, std::exchange(since, 0));
        std::ranges::fill(reads, 0);
        continue;
      }
      for (const Token other : pass) since = std::max(since, ++reads[static_cast<std::size_t>(other)]);
    }
    EXPECT_LE(most, 1) << "before prompt " << prompt;
  }
}

TEST_F(PassPolicyTest, EveryOneOfTwoHundredPromptsEnds) {
  constexpr std::size_t texts = 200;
  Batcher batcher(models_, texts, {.max_rows = 16});
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < texts; ++i)
    threads.push_back(write(batcher, static_cast<Token>(i), 1 + i % 37, i % 5));
  threads.clear();
  EXPECT_THAT(model_.passes, Each(SizeIs(testing::Gt(0u))));
  EXPECT_EQ(batcher.waiting(), 0u);
}

}  // namespace
}  // namespace spectr
