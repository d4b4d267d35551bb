// EAGLE-3 drafters, next-token layers and assistants compared with results in double precision, with which
// llama.cpp agrees: see tests/data/drafters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "tests/support/models/drafter_case.h"

namespace spectr {
namespace {

using test::DrafterCase;
using test::relative_l2;
using test::sequence_of;
using Json = nlohmann::json;

constexpr double chain_tolerance = 1e-4;

class ChainDrafters : public testing::TestWithParam<const char*> {
 protected:
  static DrafterCase load() { return {GetParam(), std::make_shared<CpuBackend>(pool())}; }
  static ThreadPool& pool() {
    static ThreadPool two(2);
    return two;
  }
};

/// Drafts `ids` as a chain in `tree`, and compares the logits of each step. Returns the path.
std::vector<NodeId> expect_steps(const DrafterCase& data, DrafterSession& session,
                                 const std::vector<Token>& sequence, TokenTree& tree, const Json& expected) {
  const auto ids = expected["ids"].get<std::vector<Token>>();
  const auto steps = expected["steps"].get<std::vector<std::size_t>>();
  const std::vector<Token> rows = data.rows();
  std::vector<NodeId> path;
  NodeId node = TokenTree::root;
  for (std::size_t i = 0; i <= ids.size(); ++i) {
    const auto listed = std::ranges::find(steps, i);
    if (i == ids.size() && listed == steps.end()) break;
    EXPECT_TRUE(session.score(sequence, tree));
    const Logits logits = session.logits(node);
    EXPECT_EQ(logits.size(), data.target().vocabulary());
    if (listed != steps.end()) {
      const auto figures = expected["logits"][static_cast<std::size_t>(listed - steps.begin())];
      EXPECT_LE(relative_l2(logits, rows, figures.get<std::vector<double>>()), chain_tolerance)
          << "step " << i;
    }
    if (i == ids.size()) break;
    if (expected.contains("log_q")) {
      EXPECT_NEAR(logits.at(ids[i]) - logits.log_sum_exp(), expected["log_q"][i].get<double>(), 1e-3);
    } else {
      EXPECT_EQ(logits.top(1).front().token, ids[i]) << "step " << i;
    }
    path.push_back(node = tree.child(node, ids[i]));
  }
  return path;
}

TEST_P(ChainDrafters, DraftTheReferencesAfterAFreshPrompt) {
  const DrafterCase data = load();
  for (const Json& round : data.figures()["rounds"]) {
    const auto sequence = sequence_of(round);
    auto sessions = data.start();
    TokenTree tree(sequence.back());  // both paths are in one tree and share the root
    expect_steps(data, *sessions.drafter, sequence, tree, round["draft"]);
    expect_steps(data, *sessions.drafter, sequence, tree, round["forced"]);
  }
}

TEST_P(ChainDrafters, DraftTheReferencesOverRoundsWithRejectedDrafts) {
  const DrafterCase data = load();
  auto sessions = data.start();
  for (const Json& round : data.figures()["rounds"]) {
    const auto sequence = sequence_of(round);
    TokenTree tree(sequence.back());
    expect_steps(data, *sessions.drafter, sequence, tree, round["forced"]);
    const auto path = expect_steps(data, *sessions.drafter, sequence, tree, round["draft"]);
    ASSERT_TRUE(sessions.target->score(sequence, tree));
    if (!round.contains("then")) break;
    // The reference verifies the greedy draft and keeps part of it, including the sequence's last token.
    const std::size_t accepted = round["then"]["accepted"].get<std::size_t>();
    const auto kept = std::span(path).first(accepted);
    sessions.target->keep(kept);
    sessions.drafter->keep(kept);
  }
}

TEST_P(ChainDrafters, AreTheReferenceBackendsToo) {
  const DrafterCase data(GetParam(), std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64));
  const Json& round = data.figures()["rounds"].back();
  const auto sequence = sequence_of(round);
  auto sessions = data.start();
  TokenTree tree(sequence.back());
  expect_steps(data, *sessions.drafter, sequence, tree, round["draft"]);
}

TEST_P(ChainDrafters, ReadTheStatesOfTheReferences) {
  const DrafterCase data = load();
  const Json& round = data.figures()["rounds"].front();
  if (!round.contains("taps")) return;  // next-token layers read the state before the head
  const auto text = round["text"].get<std::vector<Token>>();
  const auto target = data.target().start(200, 1).value();
  Features& features = *target->features();
  features.record(Features::Recorded::all);
  ASSERT_TRUE(target->score(text, TokenTree(text.back())));
  const Json& taps = round["taps"];
  const std::size_t width = data.target().spec().width;
  for (std::size_t layer = 0; layer < taps["layers"].size(); ++layer) {
    for (std::size_t i = 0; i < taps["positions"].size(); ++i) {
      const auto state = features.at(taps["positions"][i].get<std::size_t>()).subspan(layer * width, width);
      double sum = 0.0, squares = 0.0;
      for (const float x : state) {
        sum += static_cast<double>(x);
        squares += static_cast<double>(x) * static_cast<double>(x);
      }
      EXPECT_NEAR(std::sqrt(squares), taps["l2_norm"][layer][i].get<double>(), 1e-3);
      EXPECT_NEAR(sum, taps["sum"][layer][i].get<double>(), 1e-3);
      for (std::size_t j = 0; j < 4; ++j)
        EXPECT_NEAR(state[j], taps["first4"][layer][i][j].get<double>(), 1e-4);
    }
  }
}

TEST_P(ChainDrafters, ReadTheFinalStateOfTheReferences) {
  const DrafterCase data = load();
  for (const Json& round : data.figures()["rounds"]) {
    if (!round.contains("state_at_the_end")) continue;  // EAGLE-3 reads other states
    const auto text = round["text"].get<std::vector<Token>>();
    const auto expected = round["state_at_the_end"].get<std::vector<double>>();
    const auto target = data.target().start(200, 1).value();
    target->features()->record(Features::Recorded::last);
    ASSERT_TRUE(target->score(text, TokenTree(text.back())));
    EXPECT_EQ(target->features()->first(), text.size() - 1);
    const auto state = target->features()->at(text.size() - 1);
    ASSERT_EQ(state.size(), expected.size());
    double off = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      off += std::pow(static_cast<double>(state[i]) - expected[i], 2);
      norm += std::pow(expected[i], 2);
    }
    EXPECT_LE(std::sqrt(off / norm), chain_tolerance);
  }
}

/// A session that is rewound to a common prefix and continues with another text drafts like a fresh one.
TEST_P(ChainDrafters, DraftAfterARewindAsAfterAFreshPrompt) {
  const DrafterCase data = load();
  const auto sequence = sequence_of(data.figures()["rounds"].back());
  for (const std::size_t common :
       {std::size_t{0}, std::size_t{1}, sequence.size() / 2, sequence.size() - 1}) {
    auto used = data.start(), fresh = data.start();
    TokenTree tree(sequence.back());
    ASSERT_TRUE(used.drafter->score(sequence, tree));
    ASSERT_TRUE(used.target->score(sequence, tree));
    used.target->rewind(common);
    used.drafter->rewind(common);
    auto other = sequence;
    for (std::size_t i = common; i < other.size(); ++i) other[i] = (other[i] + 7) % 300;
    other.push_back(11);
    const TokenTree root(other.back());
    ASSERT_TRUE(used.drafter->score(other, root));
    ASSERT_TRUE(fresh.drafter->score(other, root));
    for (Token token = 0; token < static_cast<Token>(data.target().vocabulary()); ++token) {
      ASSERT_EQ(used.drafter->logits(TokenTree::root).at(token),
                fresh.drafter->logits(TokenTree::root).at(token))
          << common << " common tokens, token " << token;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChainDrafters,
                         testing::Values("assistant", "eagle3-d2t", "eagle3-norm", "eagle3-shared",
                                         "mtp-glm4moe", "mtp-qwen35"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace spectr
