#include "spectr/engine/batcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "spectr/engine/loaded_model.h"
#include "spectr/lm/tabular_model.h"
#include "tests/support/comes_true.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using testing::HasSubstr;

constexpr std::size_t context = 300;
constexpr std::size_t nodes = 9;
// Makes every pass wait for all sequences and include all.
constexpr PassPolicy for_all{.max_rows = 1000, .patience = std::numeric_limits<double>::infinity()};

/// Tests with the bundled pair of a draft and a target.
class BatcherTest : public testing::Test {
 protected:
  static std::unique_ptr<Transformer> load(std::string_view name) {
    return load_model(find_data(name).value(), pool()).value().transformer;
  }
  static ThreadPool& pool() {
    static ThreadPool pool(2);
    return pool;
  }
  std::unique_ptr<Transformer> draft_ = load("models/spectr-stories-draft-0.3m-f16.gguf");
  std::unique_ptr<Transformer> target_ = load("models/spectr-stories-7m-q4_0.gguf");
  std::vector<const LanguageModel*> models_ = {draft_.get(), target_.get()};
};

std::vector<float> copy(const Logits& row) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < row.size(); ++i)
    numbers.push_back(static_cast<float>(row.at(static_cast<Token>(i))));
  return numbers;
}

/// Acts like a decoder with two sessions: scores a text, then blocks of a random tree, and keeps a path of
/// each. Returns all rows of logits.
std::vector<std::vector<float>> live(Session& draft, Session& target, unsigned seed) {
  std::mt19937 random(seed);
  const auto token = [&random] { return static_cast<Token>(random() % 4000 + 1); };
  std::vector<Token> text;
  for (std::size_t n = 1 + random() % 150; text.size() < n;) text.push_back(token());
  std::vector<std::vector<float>> rows;
  for (int block = 0; block < 4; ++block) {
    TokenTree tree(text.back());
    for (std::size_t level = 0; level < 2 + random() % 3; ++level) {
      draft.score(text, tree).value();
      rows.push_back(copy(draft.logits(tree.size() - 1)));
      for (int child = 0; child < 2; ++child) {
        tree.child(static_cast<NodeId>(random() % static_cast<unsigned>(tree.size())), token());
      }
    }
    target.score(text, tree).value();
    for (NodeId node = 0; node < tree.size(); ++node) rows.push_back(copy(target.logits(node)));
    const RecycledVector<NodeId> path =
        tree.path(static_cast<NodeId>(random() % static_cast<unsigned>(tree.size())));
    draft.keep(path);
    target.keep(path);
    for (NodeId node : path) text.push_back(tree.token(node));
    text.push_back(token());
  }
  return rows;
}

TEST_F(BatcherTest, EveryTextGetsTheLogitsThatItGetsAlone) {
  constexpr std::size_t texts = 6;
  Batcher batcher(models_, texts);
  std::vector<std::vector<std::vector<float>>> together(texts);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < texts; ++i) {
      threads.emplace_back([&, i] {
        const auto draft = batcher.start(*draft_, context, nodes).value(),
                   target = batcher.start(*target_, context, nodes).value();
        const Batcher::ActiveSequence active(batcher);
        together[i] = live(*draft, *target, i);
      });
    }
  }
  for (unsigned i = 0; i < texts; ++i) {
    const auto draft = draft_->start(context, nodes).value(), target = target_->start(context, nodes).value();
    EXPECT_EQ(together[i], live(*draft, *target, i)) << "text " << i;
  }
}

TEST_F(BatcherTest, TextsComeToThePassOfTheTargetTogether) {
  constexpr std::size_t texts = 3;
  Batcher batcher(models_, texts, for_all);
  const std::vector<Token> text = {1, 2, 3};
  std::vector<std::jthread> threads;
  std::vector<std::unique_ptr<Batcher::ActiveSequence>> seats;
  for (std::size_t i = 0; i < texts; ++i) seats.push_back(std::make_unique<Batcher::ActiveSequence>(batcher));
  for (std::size_t i = 0; i < texts; ++i) {
    threads.emplace_back([&, i] {
      const auto draft = batcher.start(*draft_, context, nodes).value(),
                 target = batcher.start(*target_, context, nodes).value();
      TokenTree tree(text.back());
      for (std::size_t level = 0; level < i; ++level) {
        EXPECT_TRUE(draft->score(text, tree));
        tree.child(tree.size() - 1, 7);
      }
      EXPECT_TRUE(target->score(text, tree));
    });
  }
  threads.clear();
  const std::vector<PassCounts> counts = batcher.counts();
  EXPECT_EQ(counts[0].passes, 2u);
  EXPECT_EQ(counts[0].sequences, 1u + 2u);
  EXPECT_EQ(counts[1].passes, 1u);
  EXPECT_EQ(counts[1].sequences, texts);
  EXPECT_EQ(counts[1].rows, texts * text.size() + 0 + 1 + 2);
}

TEST_F(BatcherTest, ALongTextOfADraftHoldsNobodyUp) {
  constexpr std::size_t passes_of_other = 3;
  Batcher batcher(models_, 2, for_all);
  const std::vector<Token> text = {1, 2, 3};
  std::vector<Token> prompt(280);
  std::iota(prompt.begin(), prompt.end(), 1);
  std::atomic<bool> other_is_done = false;
  auto active = std::make_unique<Batcher::ActiveSequence>(batcher),
       other = std::make_unique<Batcher::ActiveSequence>(batcher);
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    const auto session = batcher.start(*draft_, context, nodes).value();
    EXPECT_TRUE(session->score(prompt, TokenTree(prompt.back())));
    EXPECT_TRUE(other_is_done);
    active.reset();
  });
  threads.emplace_back([&] {
    const auto session = batcher.start(*target_, context, nodes).value();
    for (std::size_t pass = 0; pass < passes_of_other; ++pass) {
      EXPECT_TRUE(session->score(text, TokenTree(text.back())));
    }
    other_is_done = true;
    other.reset();
  });
}

TEST_F(BatcherTest, ACancelledTextEndsBeforeTheNextPass) {
  Batcher batcher(models_, 1);
  const auto session = batcher.start(*target_, context, nodes).value();
  std::stop_source stop;
  session->cancel_when(stop.get_token());
  const Batcher::ActiveSequence active(batcher);
  const std::vector<Token> text = {1, 2, 3};
  ASSERT_TRUE(session->score(text, TokenTree(3)));
  stop.request_stop();
  session->rewind(1);
  const auto result = session->score(text, TokenTree(3));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("cancelled"));
  EXPECT_EQ(batcher.counts()[1].passes, 1u);
}

TEST_F(BatcherTest, ATextThatIsCancelledOnTheWayKeepsWhatWasComputed) {
  Batcher batcher(models_, 2, for_all);
  const auto session = batcher.start(*target_, context, nodes).value(),
             brief = batcher.start(*target_, context, nodes).value();
  std::stop_source stop;
  session->cancel_when(stop.get_token());
  std::vector<Token> text(150);  // more than a pass takes of one sequence
  std::iota(text.begin(), text.end(), 1);
  const TokenTree tree(text.back());
  const Batcher::ActiveSequence active(batcher);
  auto other_active = std::make_unique<Batcher::ActiveSequence>(batcher);
  Result<void> result;
  std::jthread thread([&] { result = session->score(text, tree); });
  EXPECT_TRUE(brief->score(std::vector<Token>{1}, TokenTree(1)));  // in the pass of the first piece
  stop.request_stop();
  other_active.reset();
  thread.join();
  EXPECT_FALSE(result);
  EXPECT_GT(session->length(), 0u);
  EXPECT_LT(session->length(), text.size());

  session->cancel_when({});
  ASSERT_TRUE(session->score(text, tree));
  EXPECT_EQ(batcher.counts()[1].rows, 1 + text.size()) << "nothing is computed twice";
  const auto alone = target_->start(context, nodes).value();
  ASSERT_TRUE(alone->score(text, tree));
  EXPECT_EQ(copy(session->logits(TokenTree::root)), copy(alone->logits(TokenTree::root)));
}

TEST_F(BatcherTest, AContextIsOneThatTheModelCanHave) {
  Batcher batcher(models_, 1);
  EXPECT_TRUE(batcher.start(*target_, target_->context(), nodes));
  EXPECT_EQ(batcher.start(*target_, 0, nodes).value()->context(), target_->context());
  EXPECT_FALSE(batcher.start(*target_, target_->context() + 1, nodes));
}

// An error or a lack of memory ends only the sequence that it concerns.
TEST_F(BatcherTest, AFailureEndsOneTextOnly) {
  Batcher batcher(models_, 2);
  const std::vector<Token> good = {1, 2, 3}, bad = {1, 2, 1 << 20};
  std::vector<std::unique_ptr<Batcher::ActiveSequence>> active;
  for (int i = 0; i < 2; ++i) active.push_back(std::make_unique<Batcher::ActiveSequence>(batcher));
  const auto score = [&](const std::vector<Token>& text) {
    return batcher.start(*target_, context, nodes).value()->score(text, TokenTree(text.back()));
  };
  Result<void> of_bad;
  std::jthread other([&] { of_bad = score(bad); });
  EXPECT_TRUE(score(good));
  other.join();
  ASSERT_FALSE(of_bad);
  EXPECT_THAT(of_bad.error().message, HasSubstr("is outside the vocabulary"));
}

/// Returns the text 1, 2, 3, …, `last`.
std::vector<Token> numbered(std::size_t size, Token last) {
  std::vector<Token> text(size);
  std::iota(text.begin(), text.end(), 1);
  text.back() = last;
  return text;
}

TEST_F(BatcherTest, WhatTextsBeginWithIsComputedOnce) {
  constexpr std::size_t texts = 4, size = 200;
  Batcher batcher(models_, texts);
  std::vector<std::unique_ptr<BatchedSession>> sessions;
  std::vector<std::unique_ptr<Batcher::ActiveSequence>> seats;
  for (std::size_t i = 0; i < texts; ++i) {
    sessions.push_back(batcher.start(*target_, context, nodes).value());
    seats.push_back(std::make_unique<Batcher::ActiveSequence>(batcher));
  }
  std::vector<std::vector<float>> rows(texts);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < texts; ++i) {
    threads.emplace_back([&, i] {
      const std::vector<Token> text = numbered(size, static_cast<Token>(1000 + i));
      EXPECT_TRUE(sessions[i]->score(text, TokenTree(text.back())));
      rows[i] = copy(sessions[i]->logits(TokenTree::root));
      seats[i].reset();
    });
  }
  threads.clear();
  std::size_t copied = 0;
  for (const auto& session : sessions) copied += session->copied();
  EXPECT_EQ(batcher.counts()[1].rows, size + (texts - 1));
  EXPECT_EQ(copied, (texts - 1) * (size - 1));
  for (std::size_t i = 0; i < texts; ++i) {
    const std::vector<Token> text = numbered(size, static_cast<Token>(1000 + i));
    const auto alone = target_->start(context, nodes).value();
    ASSERT_TRUE(alone->score(text, TokenTree(text.back())));
    EXPECT_EQ(rows[i], copy(alone->logits(TokenTree::root))) << "text " << i;
  }
}

TEST_F(BatcherTest, AnIdleTextGivesItsBeginning) {
  Batcher batcher(models_, 2);
  const auto first = batcher.start(*target_, context, nodes).value(),
             second = batcher.start(*target_, context, nodes).value(),
             of_draft = batcher.start(*draft_, context, nodes).value();
  const Batcher::ActiveSequence active(batcher);
  const std::vector<Token> text = numbered(100, 7);
  ASSERT_TRUE(first->score(text, TokenTree(7)));
  first->end(text);
  EXPECT_EQ(first->known().size(), text.size());

  std::vector<Token> other = numbered(60, 9);
  ASSERT_TRUE(of_draft->score(other, TokenTree(9)));
  EXPECT_EQ(of_draft->copied(), 0u) << "of another model";
  ASSERT_TRUE(second->score(other, TokenTree(9)));
  EXPECT_EQ(second->copied(), 59u);

  second->begin(0, {.all = false});
  ASSERT_TRUE(second->score(other, TokenTree(9)));
  EXPECT_EQ(second->copied(), 0u) << "as it shall not";

  first->begin(0, {.all = false, .group = 7});
  ASSERT_TRUE(first->score(text, TokenTree(7)));
  first->end(text);
  for (const std::uint64_t group : {7, 8}) {
    second->begin(0, {.all = false, .group = group});
    ASSERT_TRUE(second->score(other, TokenTree(9)));
    EXPECT_EQ(second->copied(), group == 7 ? 59u : 0u) << "from its group alone";
  }

  second->begin(0, {});
  other = numbered(Batcher::worth_copying, 9);
  ASSERT_TRUE(second->score(other, TokenTree(9)));
  EXPECT_EQ(second->copied(), 0u) << "so little is not worth it";
}

TEST_F(BatcherTest, ALongTextTellsHowFarItHasCome) {
  Batcher batcher(models_, 1);
  const auto session = batcher.start(*target_, context, nodes).value();
  const Batcher::ActiveSequence active(batcher);
  std::vector<std::size_t> lengths;
  session->report_progress([&](std::size_t length) { lengths.push_back(length); });
  const std::vector<Token> text = numbered(200, 7);
  ASSERT_TRUE(session->score(text, TokenTree(7)));
  ASSERT_GE(lengths.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(lengths));
  EXPECT_GT(lengths.front(), 0u);
  EXPECT_LT(lengths.back(), text.size()) << "of a request that is over nothing is told";
}

TEST_F(BatcherTest, WhatATextThatLeavesHasComputedIsCopied) {
  Batcher batcher(models_, 2, for_all);
  const auto ahead = batcher.start(*target_, context, nodes).value(),
             behind = batcher.start(*target_, context, nodes).value();
  const std::vector<Token> text = numbered(250, 7), beginning(text.begin(), text.begin() + 80);
  std::stop_source stop;
  ahead->cancel_when(stop.get_token());
  auto its = std::make_unique<Batcher::ActiveSequence>(batcher);
  ASSERT_TRUE(ahead->score(beginning, TokenTree(beginning.back())));
  const Batcher::ActiveSequence own(batcher);
  std::jthread other([&] {
    EXPECT_FALSE(ahead->score(text, TokenTree(7)));
    its.reset();
  });
  ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() > 0; }, std::chrono::milliseconds(1)));
  stop.request_stop();
  ASSERT_TRUE(behind->score(text, TokenTree(7))) << "it does not wait for who has gone";
  EXPECT_EQ(behind->copied(), beginning.size());
  EXPECT_EQ(batcher.counts()[1].rows, text.size());
}

// The batcher uses models only through LanguageModel.
TEST(Batcher, ServesTablesToo) {
  std::mt19937 random(1);
  const TabularModel table = TabularModel::random(5, 4, random);
  const LanguageModel* const models[] = {&table};
  Batcher batcher(models, 2);
  std::vector<std::jthread> threads;
  for (const Token last : {1, 2}) {
    threads.emplace_back([&, last] {
      const auto session = batcher.start(table, 0, nodes).value();
      const Batcher::ActiveSequence active(batcher);
      EXPECT_TRUE(session->score(std::vector<Token>{0, last}, TokenTree(last)));
      EXPECT_EQ(session->logits(TokenTree::root).at(3), table.log_row(1, last)[3]);
    });
  }
}

TEST_F(BatcherTest, ATextThatLeavesHoldsNobodyUp) {
  Batcher batcher(models_, 2, for_all);
  auto idle = std::make_unique<Batcher::ActiveSequence>(batcher);
  std::jthread other([&] {
    const auto session = batcher.start(*target_, context, nodes).value();
    const Batcher::ActiveSequence active(batcher);
    EXPECT_TRUE(session->score(std::vector<Token>{1}, TokenTree(1)));
  });
  ASSERT_TRUE(test::comes_true([&] { return batcher.waiting() > 0; }, std::chrono::milliseconds(1)));
  EXPECT_EQ(batcher.counts()[1].passes, 0u) << "the pass waits for the idle text";
  idle.reset();
  other.join();
  EXPECT_EQ(batcher.counts()[1].passes, 1u);
}

}  // namespace
}  // namespace spectr
