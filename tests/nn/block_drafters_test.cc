// DFlash and DSpark drafters compared with results in double precision, with which
// llama.cpp agrees: see tests/data/drafters.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/weights.h"
#include "tests/support/models/drafter_case.h"

namespace spectr {
namespace {

using test::DrafterCase;
using test::relative_l2;
using test::sequence_of;
using Json = nlohmann::json;

constexpr double block_tolerance = 1e-4;

std::shared_ptr<const Backend> two_threads() {
  static ThreadPool pool(2);
  return std::make_shared<CpuBackend>(pool);
}

/// Scores a path from the root, and returns its nodes, starting with the root.
std::vector<NodeId> score_path(DrafterSession& session, const std::vector<Token>& sequence, TokenTree& tree,
                               const std::vector<Token>& ids) {
  std::vector<NodeId> nodes = {TokenTree::root};
  for (const Token id : ids) nodes.push_back(tree.child(nodes.back(), id));
  EXPECT_TRUE(session.score(sequence, tree));
  return nodes;
}

/// Compares the block rows' logits along a path, which `row_logits` returns.
void expect_rows(const DrafterCase& data, const DrafterSession& session, const std::vector<NodeId>& nodes,
                 const Json& rows, const Json& logits) {
  const std::size_t first = data.drafter().spec().block->first_row;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i].get<std::size_t>();
    EXPECT_LE(relative_l2(session.row_logits(nodes[row - first]), data.rows(),
                          logits[i].get<std::vector<double>>()),
              block_tolerance)
        << "row " << row;
  }
}

void expect_candidates(const DrafterCase& data, const DrafterSession& session,
                       const std::vector<NodeId>& nodes, const Json& candidates, const Json& scores) {
  for (std::size_t step = 0; step < candidates.size(); ++step) {
    const auto ids = candidates[step].get<std::vector<Token>>();
    const Logits logits = session.logits(nodes[step]);
    EXPECT_LE(relative_l2(logits, ids, scores[step].get<std::vector<double>>()), block_tolerance);
    EXPECT_EQ(logits.top(data.target().vocabulary()).size(), ids.size()) << "no others";
  }
}

void expect_forced(const DrafterCase& data, DrafterSession& session, const std::vector<Token>& sequence,
                   TokenTree& tree, const Json& draft) {
  const Json& forced = draft.contains("forced") ? draft["forced"] : Json();
  if (forced.is_null()) return;
  const auto ids = forced["ids"].get<std::vector<Token>>();
  const auto nodes = score_path(session, sequence, tree, ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Logits logits = session.logits(nodes[i]);
    EXPECT_NEAR(logits.at(ids[i]) - logits.log_sum_exp(), forced["log_q"][i].get<double>(), 1e-3);
    if (const Json confidence = forced.value("confidence", Json::array()); !confidence.empty()) {
      EXPECT_NEAR(session.confidence(nodes[i]).value(), confidence[i].get<double>(), 1e-4);
    }
  }
  if (forced.contains("logits")) expect_rows(data, session, nodes, draft["rows"], forced["logits"]);
  if (forced.contains("scores"))
    expect_candidates(data, session, nodes, draft["selector"]["candidates"], forced["scores"]);
}

/// Drafts greedily after `sequence`, and compares all data of the round. Returns the path.
std::vector<NodeId> expect_round(const DrafterCase& data, DrafterSession& session,
                                 const std::vector<Token>& sequence, TokenTree& tree, const Json& round) {
  const Json& draft = round["draft"];
  const auto ids = draft["ids"].get<std::vector<Token>>();
  const auto nodes = score_path(session, sequence, tree, ids);
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(session.logits(nodes[i]).top(1).front().token, ids[i]) << "step " << i;
  if (draft.contains("logits")) expect_rows(data, session, nodes, draft["rows"], draft["logits"]);
  if (const Json chain = draft.value("chain", Json()); !chain.is_null()) {
    expect_rows(data, session, nodes, draft["rows"], chain["logits"]);
    for (std::size_t i = 0; i < chain["confidence"].size(); ++i)
      EXPECT_NEAR(session.confidence(nodes[i]).value(), chain["confidence"][i].get<double>(), 1e-4);
  }
  if (const Json selector = draft.value("selector", Json()); !selector.is_null())
    expect_candidates(data, session, nodes, selector["candidates"], selector["scores_along_the_draft"]);
  expect_forced(data, session, sequence, tree, draft);
  return {nodes.begin() + 1, nodes.end()};
}

class BlockDrafters : public testing::TestWithParam<const char*> {};

TEST_P(BlockDrafters, DraftTheReferencesAfterAFreshPrompt) {
  const DrafterCase data(GetParam(), two_threads());
  for (const Json& round : data.figures()["rounds"]) {
    const auto sequence = sequence_of(round);
    const auto sessions = data.start();
    TokenTree tree(sequence.back());
    expect_round(data, *sessions.drafter, sequence, tree, round);
  }
}

TEST_P(BlockDrafters, DraftTheReferencesOverRoundsWithRejectedDrafts) {
  const DrafterCase data(GetParam(), two_threads());
  const auto sessions = data.start();
  for (const Json& round : data.figures()["rounds"]) {
    const auto sequence = sequence_of(round);
    TokenTree tree(sequence.back());
    const auto path = expect_round(data, *sessions.drafter, sequence, tree, round);
    if (!round.contains("then")) break;
    ASSERT_TRUE(sessions.target->score(sequence, tree));
    const auto kept = std::span(path).first(round["then"]["accepted"].get<std::size_t>());
    sessions.target->keep(kept);
    sessions.drafter->keep(kept);
  }
}

TEST_P(BlockDrafters, AreTheReferenceBackendsToo) {
  const DrafterCase data(GetParam(), std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64));
  const Json& round = data.figures()["rounds"].back();
  const auto sequence = sequence_of(round);
  const auto sessions = data.start();
  TokenTree tree(sequence.back());
  expect_round(data, *sessions.drafter, sequence, tree, round);
}

/// Returns the bias of DSpark's Markov head on a row after `before`; zeros for other drafters.
std::vector<double> markov_bias(const DrafterCase& data, Token before) {
  std::vector<double> bias(data.rows().size());
  const Gguf& file = data.drafter().file();
  const GgufTensor* const w1 = file.tensor("markov_w1.weight");
  const GgufTensor* const w2 = file.tensor("markov_w2.weight");
  if (w1 == nullptr || w2 == nullptr) return bias;
  std::vector<float> in(w1->cols()), out(w2->cols());
  read_numbers(*w1, static_cast<std::size_t>(before), in);
  for (std::size_t row = 0; row < bias.size(); ++row) {
    read_numbers(*w2, row, out);
    bias[row] = std::inner_product(in.begin(), in.end(), out.begin(), 0.0);
  }
  return bias;
}

// The results for short blocks do not include the bias of DSpark's Markov head.
TEST_P(BlockDrafters, ReadAsManyRowsAsTheyAreTold) {
  const DrafterCase data(GetParam(), two_threads());
  const Json& round = data.figures()["rounds"].front();
  const Json& expected = round["short_block"];
  const auto sequence = sequence_of(round);
  const auto ids = expected["ids"].get<std::vector<Token>>();
  const auto sessions = data.start(40, expected["block_rows"].get<std::size_t>());
  TokenTree tree(sequence.back());
  const auto nodes = score_path(*sessions.drafter, sequence, tree, ids);
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(sessions.drafter->logits(nodes[i]).top(1).front().token, ids[i]);
  auto logits = expected["logits"].get<std::vector<std::vector<double>>>();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const std::size_t step = expected["rows"][i].get<std::size_t>() - data.drafter().spec().block->first_row;
    const auto bias = markov_bias(data, tree.token(nodes[step]));
    std::ranges::transform(logits[i], bias, logits[i].begin(), std::plus<>());
  }
  expect_rows(data, *sessions.drafter, nodes, expected["rows"], Json(logits));
}

/// Nodes of one depth share a row of the block, so the rest of the tree does not change their logits.
TEST_P(BlockDrafters, GiveANodeTheSameLogitsInEveryTree) {
  const DrafterCase data(GetParam(), two_threads());
  const auto sequence = sequence_of(data.figures()["rounds"].front());
  const auto alone = data.start(), together = data.start();
  TokenTree chain(sequence.back()), wide(sequence.back());
  const NodeId first = chain.child(TokenTree::root, 30);
  ASSERT_TRUE(alone.drafter->score(sequence, chain));
  for (const Token token : {29, 30, 31}) wide.child(wide.child(TokenTree::root, token), 30);
  ASSERT_TRUE(together.drafter->score(sequence, wide));
  const NodeId same = wide.child(TokenTree::root, 30);
  for (Token token = 0; token < static_cast<Token>(data.target().vocabulary()); ++token)
    ASSERT_EQ(alone.drafter->logits(first).at(token), together.drafter->logits(same).at(token));
}

INSTANTIATE_TEST_SUITE_P(All, BlockDrafters,
                         testing::Values("dflash-8", "dflash-16-window", "dflash-6-scaled", "dflash2-8",
                                         "dspark-7", "dspark-6-bonus"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace spectr
