#include "spectr/model/shared_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/model/transformer_session.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using testing::HasSubstr;

constexpr std::size_t context = 300;
constexpr std::size_t nodes = 9;

/// The bundled pair: a draft and a target.
class SharedPassesTest : public testing::Test {
 protected:
  static std::unique_ptr<Transformer> load(std::string_view name) {
    return Transformer::load(Gguf::open(find_data(name).value()).value(), pool()).value();
  }
  static ThreadPool& pool() {
    static ThreadPool pool(2);
    return pool;
  }
  std::unique_ptr<Transformer> draft_ = load("models/spectr-stories-draft-0.3m-f16.gguf");
  std::unique_ptr<Transformer> target_ = load("models/spectr-stories-7m-q4_0.gguf");
  std::vector<const Transformer*> models_ = {draft_.get(), target_.get()};
};

std::vector<float> copy(const Logits& row) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < row.size(); ++i) numbers.push_back(static_cast<float>(row[i]));
  return numbers;
}

/// What a decoder does with its two sessions: a text, then blocks of a random tree, of which a path is kept.
/// Gives every row of logits.
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

TEST_F(SharedPassesTest, EveryTextGetsTheLogitsThatItGetsAlone) {
  constexpr std::size_t texts = 6;
  SharedPasses passes(models_, texts, nodes);
  std::vector<std::vector<std::vector<float>>> together(texts);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < texts; ++i) {
      threads.emplace_back([&, i] {
        const auto draft = passes.start(*draft_, context), target = passes.start(*target_, context);
        const SharedPasses::Seat seat(passes);
        together[i] = live(*draft, *target, i);
      });
    }
  }
  for (unsigned i = 0; i < texts; ++i) {
    TransformerSession draft(*draft_, context, nodes), target(*target_, context, nodes);
    EXPECT_EQ(together[i], live(draft, target, i)) << "text " << i;
  }
}

TEST_F(SharedPassesTest, TextsComeToThePassOfTheTargetTogether) {
  constexpr std::size_t texts = 3;
  SharedPasses passes(models_, texts, nodes);
  const std::vector<Token> text = {1, 2, 3};
  std::vector<std::jthread> threads;
  std::vector<std::unique_ptr<SharedPasses::Seat>> seats;
  for (std::size_t i = 0; i < texts; ++i) seats.push_back(std::make_unique<SharedPasses::Seat>(passes));
  for (std::size_t i = 0; i < texts; ++i) {
    threads.emplace_back([&, i] {
      const auto draft = passes.start(*draft_, context), target = passes.start(*target_, context);
      TokenTree tree(text.back());
      for (std::size_t level = 0; level < i; ++level) {
        EXPECT_TRUE(draft->score(text, tree));
        tree.child(tree.size() - 1, 7);
      }
      EXPECT_TRUE(target->score(text, tree));
    });
  }
  threads.clear();
  const std::vector<PassCounts> counts = passes.counts();
  EXPECT_EQ(counts[0].passes, 2u);
  EXPECT_EQ(counts[0].texts, 1u + 2u);
  EXPECT_EQ(counts[1].passes, 1u);
  EXPECT_EQ(counts[1].texts, texts);
  EXPECT_EQ(counts[1].rows, texts * text.size() + 0 + 1 + 2);
}

TEST_F(SharedPassesTest, ALongTextOfADraftHoldsNobodyUp) {
  constexpr std::size_t passes_of_other = 3;
  SharedPasses passes(models_, 2, nodes);
  const std::vector<Token> text = {1, 2, 3};
  std::vector<Token> prompt(280);
  std::iota(prompt.begin(), prompt.end(), 1);
  std::atomic<bool> other_is_done = false;
  auto seat = std::make_unique<SharedPasses::Seat>(passes),
       other = std::make_unique<SharedPasses::Seat>(passes);
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    const auto session = passes.start(*draft_, context);
    EXPECT_TRUE(session->score(prompt, TokenTree(prompt.back())));
    EXPECT_TRUE(other_is_done);
    seat.reset();
  });
  threads.emplace_back([&] {
    const auto session = passes.start(*target_, context);
    for (std::size_t pass = 0; pass < passes_of_other; ++pass) {
      EXPECT_TRUE(session->score(text, TokenTree(text.back())));
    }
    other_is_done = true;
    other.reset();
  });
}

TEST_F(SharedPassesTest, AGivenUpTextEndsBeforeTheNextPass) {
  SharedPasses passes(models_, 1, nodes);
  const auto session = passes.start(*target_, context);
  std::stop_source stop;
  session->give_up_when(stop.get_token());
  const SharedPasses::Seat seat(passes);
  const std::vector<Token> text = {1, 2, 3};
  ASSERT_TRUE(session->score(text, TokenTree(3)));
  stop.request_stop();
  session->rewind(1);
  const auto result = session->score(text, TokenTree(3));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("given up"));
  EXPECT_EQ(passes.counts()[1].passes, 1u);
}

TEST_F(SharedPassesTest, ATextThatIsGivenUpOnTheWayKeepsWhatWasComputed) {
  SharedPasses passes(models_, 2, nodes);
  const auto session = passes.start(*target_, context), brief = passes.start(*target_, context);
  std::stop_source stop;
  session->give_up_when(stop.get_token());
  std::vector<Token> text(150);  // more than a pass takes of one text
  std::iota(text.begin(), text.end(), 1);
  const TokenTree tree(text.back());
  const SharedPasses::Seat seat(passes);
  auto other_seat = std::make_unique<SharedPasses::Seat>(passes);
  Result<void> result;
  std::jthread thread([&] { result = session->score(text, tree); });
  EXPECT_TRUE(brief->score(std::vector<Token>{1}, TokenTree(1)));  // in the pass of the first piece
  stop.request_stop();
  other_seat.reset();
  thread.join();
  EXPECT_FALSE(result);
  EXPECT_GT(session->length(), 0u);
  EXPECT_LT(session->length(), text.size());

  session->give_up_when({});
  ASSERT_TRUE(session->score(text, tree));
  EXPECT_EQ(passes.counts()[1].rows, 1 + text.size()) << "nothing is computed twice";
  TransformerSession alone(*target_, context, nodes);
  ASSERT_TRUE(alone.score(text, tree));
  EXPECT_EQ(copy(session->logits(TokenTree::root)), copy(alone.logits(TokenTree::root)));
}

TEST_F(SharedPassesTest, AContextIsOneThatTheModelCanHave) {
  SharedPasses passes(models_, 1, nodes);
  const std::size_t most = target_->config().context;
  EXPECT_TRUE(passes.start(*target_, most));
  EXPECT_THROW(passes.start(*target_, 0), BrokenContract);
  EXPECT_THROW(passes.start(*target_, most + 1), BrokenContract);
}

TEST_F(SharedPassesTest, ATextThatLeavesHoldsNobodyUp) {
  SharedPasses passes(models_, 2, nodes);
  auto idle = std::make_unique<SharedPasses::Seat>(passes);
  std::jthread other([&] {
    const auto session = passes.start(*target_, context);
    const SharedPasses::Seat seat(passes);
    EXPECT_TRUE(session->score(std::vector<Token>{1}, TokenTree(1)));
  });
  while (passes.waiting() == 0) std::this_thread::yield();
  EXPECT_EQ(passes.counts()[1].passes, 0u) << "the pass waits for the idle text";
  idle.reset();
  other.join();
  EXPECT_EQ(passes.counts()[1].passes, 1u);
}

}  // namespace
}  // namespace spectr
