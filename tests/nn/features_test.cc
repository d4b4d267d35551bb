// Hidden states that a session exports for trained drafters.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/nn/feature_log.h"
#include "tests/support/models/drafter_case.h"

namespace spectr {
namespace {

using test::DrafterCase;

std::vector<float> copy_of(std::span<const float> features) {
  return {features.begin(), features.end()};
}

DrafterCase tapped_target() {
  static ThreadPool pool(2);
  return {"eagle3-d2t", std::make_shared<CpuBackend>(pool)};
}

const std::vector<Token> prompt = {5, 17, 33, 41, 5, 90, 12, 77};

TEST(FeaturesOfSessions, AreThoseOfThePassThatComputedTheTokens) {
  const DrafterCase data = tapped_target();
  // The tree has two branches; the second is kept.
  TokenTree tree(prompt.back());
  const NodeId a = tree.child(TokenTree::root, 100), b = tree.child(TokenTree::root, 101);
  tree.child(a, 7);
  const NodeId c = tree.child(b, 8);
  const auto session = data.target().start(64, 8).value();
  Features& features = *session->features();
  features.record(Features::Recorded::all);
  ASSERT_TRUE(session->score(prompt, tree));
  EXPECT_EQ(features.first(), 0U);
  EXPECT_EQ(features.end(), prompt.size());
  const auto of_b = copy_of(features.of(b)), of_c = copy_of(features.of(c));
  session->keep(std::vector{b, c});
  EXPECT_EQ(features.end(), prompt.size() + 2);
  EXPECT_EQ(copy_of(features.at(prompt.size())), of_b);
  EXPECT_EQ(copy_of(features.at(prompt.size() + 1)), of_c);

  // A text pass exports the same states, bit for bit.
  auto text = prompt;
  text.insert(text.end(), {101, 8});
  const auto fresh = data.target().start(64, 8).value();
  fresh->features()->record(Features::Recorded::all);
  ASSERT_TRUE(fresh->score(text, TokenTree(text.back())));
  for (std::size_t position = 0; position < text.size(); ++position)
    EXPECT_EQ(copy_of(fresh->features()->at(position)), copy_of(features.at(position))) << position;
}

TEST(FeaturesOfSessions, EndWithTheTextAfterARewindAndBeginWhereTheyAreDropped) {
  const DrafterCase data = tapped_target();
  const auto session = data.target().start(64, 1).value();
  Features& features = *session->features();
  features.record(Features::Recorded::all);
  ASSERT_TRUE(session->score(prompt, TokenTree(prompt.back())));
  features.drop(3);
  EXPECT_EQ(features.first(), 3U);
  session->rewind(5);
  EXPECT_EQ(features.end(), 5U);
  ASSERT_TRUE(session->score(prompt, TokenTree(prompt.back())));
  EXPECT_EQ(features.first(), 3U);
  EXPECT_EQ(features.end(), prompt.size());
  session->rewind(1);  // before the recorded states
  ASSERT_TRUE(session->score(prompt, TokenTree(prompt.back())));
  EXPECT_EQ(features.first(), 1U);
}

TEST(FeaturesOfSessions, AreThoseOfTheLastTokenIfNoOthersAreAskedFor) {
  const DrafterCase data = tapped_target();
  TokenTree tree(prompt.back());
  const NodeId a = tree.child(TokenTree::root, 100), b = tree.child(a, 101);
  const auto session = data.target().start(64, 8).value();
  Features& features = *session->features();
  features.record(Features::Recorded::last);
  ASSERT_TRUE(session->score(prompt, tree));
  EXPECT_EQ(features.first(), prompt.size() - 1);
  EXPECT_EQ(features.end(), prompt.size());
  const auto of_b = copy_of(features.of(b));
  session->keep(std::vector{a, b});
  EXPECT_EQ(features.first(), prompt.size() + 1);
  EXPECT_EQ(copy_of(features.at(prompt.size() + 1)), of_b);
  features.record(Features::Recorded::none);
  EXPECT_EQ(features.first(), features.end());
}

/// Accepted nodes move to the end of the sequence in the next pass; until then they are where the tree was.
TEST(FeaturesOfSessions, LocateTheKeysOfAcceptedNodesBeforeTheyMove) {
  const DrafterCase data = tapped_target();
  TokenTree tree(prompt.back());
  const NodeId a = tree.child(TokenTree::root, 100), b = tree.child(TokenTree::root, 101);
  const NodeId c = tree.child(a, 8), d = tree.child(b, 9);
  const auto session = data.target().start(64, 8).value();
  ASSERT_TRUE(session->score(prompt, tree));
  session->keep(std::vector{b, d});
  const auto slot_of = [](NodeId node) { return static_cast<std::int32_t>(prompt.size()) + node - 1; };
  SequenceSlots slots;
  session->features()->locate(prompt.size() + 2, slots);
  EXPECT_EQ(slots.prefix, prompt.size());
  EXPECT_EQ(slots.rest, (std::vector{slot_of(b), slot_of(d)}));
  session->features()->locate(3, slots);
  EXPECT_EQ(slots.prefix, 3U);
  EXPECT_TRUE(slots.rest.empty());
  auto text = prompt;
  text.insert(text.end(), {101, 9, 40});
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  session->features()->locate(text.size(), slots);
  EXPECT_EQ(slots.prefix, text.size());
  EXPECT_NE(c, d);
}

TEST(FeaturesOfSessions, AreNotRecordedUnlessSomebodyAsks) {
  const DrafterCase data = tapped_target();
  const auto session = data.target().start(64, 1).value();
  ASSERT_TRUE(session->score(prompt, TokenTree(prompt.back())));
  EXPECT_EQ(session->features()->first(), session->features()->end());
}

TEST(FeaturesOfSessions, AreAbsentWhereNoDrafterReadsThem) {
  static ThreadPool pool(1);
  const auto model = Transformer::load(Gguf::open(DrafterCase::folder() / "target-llama.gguf").value(),
                                       std::make_shared<CpuBackend>(pool))
                         .value();
  EXPECT_EQ(model->start(16, 1).value()->features(), nullptr);
}

}  // namespace
}  // namespace spectr
