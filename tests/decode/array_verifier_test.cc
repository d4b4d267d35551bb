// Verification on plain arrays: it makes the decoders' choices, has the target's distribution by
// enumeration, and refuses invalid input.
#include "spectr/decode/array_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/base/enumerator.h"
#include "spectr/decode/draft.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

/// A draft in a caller's arrays, and the target's rows for it.
struct OwnedArrays {
  std::size_t vocabulary;
  std::vector<Token> tokens = {};
  std::vector<std::int32_t> parents = {}, multiplicities = {};
  std::vector<double> p = {}, q = {};  // [n, V], [n + 1, V]

  DraftArrays draft() const {
    return {.tokens = tokens,
            .parents = parents,
            .multiplicities = multiplicities,
            .probabilities = {std::span(p), vocabulary}};
  }
  TargetArrays target() const { return {.rows = {std::span(q), vocabulary}}; }
};

void append(std::vector<double>& rows, const Distribution& row) {
  for (std::size_t x = 0; x < row.vocabulary(); ++x) rows.push_back(row[static_cast<Token>(x)]);
}

/// Returns arrays with one entry per draw, in the order drawn.
OwnedArrays arrays_of(const Draft& draft, NodeDistributions& target, std::size_t vocabulary) {
  OwnedArrays arrays{vocabulary};
  append(arrays.q, *value_of(target.at(TokenTree::root)));
  for (const Draw& draw : draft.draws()) {
    arrays.tokens.push_back(draft.tree().token(draw.node));
    arrays.parents.push_back(draw.parent ? static_cast<std::int32_t>(*draw.parent) : -1);
    append(arrays.p, *draw.distribution);
    append(arrays.q, *value_of(target.at(draw.node)));
  }
  return arrays;
}

/// Returns arrays with one entry per node and its number of copies; siblings are in descending token order.
OwnedArrays merged_arrays_of(const Draft& draft, NodeDistributions& target, std::size_t vocabulary) {
  const TokenTree& tree = draft.tree();
  OwnedArrays arrays{vocabulary};
  append(arrays.q, *value_of(target.at(TokenTree::root)));
  const std::function<void(NodeId, std::int32_t)> add_below = [&](NodeId above, std::int32_t parent) {
    std::vector<NodeId> children;
    for (NodeId node = 1; node < tree.size(); ++node) {
      if (tree.parent(node) == above) children.push_back(node);
    }
    std::ranges::sort(children, std::ranges::greater(), [&](NodeId node) { return tree.token(node); });
    for (const NodeId node : children) {
      const Distribution* p = nullptr;
      std::int32_t copies = 0;
      for (const Draw& draw : draft.draws()) {
        if (draw.node != node) continue;
        ++copies;
        p = draw.distribution;
      }
      arrays.tokens.push_back(tree.token(node));
      arrays.parents.push_back(parent);
      arrays.multiplicities.push_back(copies);
      append(arrays.p, *p);
      append(arrays.q, *value_of(target.at(node)));
      add_below(node, static_cast<std::int32_t>(arrays.tokens.size()) - 1);
    }
  };
  add_below(TokenTree::root, -1);
  return arrays;
}

void need(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

using ToArrays = OwnedArrays (*)(const Draft&, NodeDistributions&, std::size_t);

/// A decoder on tables whose blocks are verified through arrays.
class ArrayBlocks {
 public:
  ArrayBlocks(const TabularPair& pair, std::string_view method, const MethodOptions& options)
      : pair_(pair),
        method_(method),
        decoder_(decoder_of(method, options)),
        verifier_(value_of(ArrayVerifier::make(method, options))) {}

  RecycledVector<Token> tokens(const BlockStart& start, Choices& choices, ToArrays to_arrays = arrays_of) {
    OwnedModels models = this->models(start);
    Draft draft(start.sequence.back());
    need(decoder_.drafter().propose(start, models, choices, draft));
    need(models.target.score(start.sequence, draft.tree()));
    NodeDistributions target(models.target, models.warp, start.sequence, draft.tree(), pair_.vocabulary());
    const OwnedArrays arrays = to_arrays(draft, target, pair_.vocabulary());
    const BlockPlace place{.block = start.index, .position = start.sequence.size()};
    return value_of(verifier_.verify(arrays.draft(), arrays.target(), place, choices)).tokens;
  }

  RecycledVector<Token> tokens_of_decoder(const BlockStart& start, Choices& choices) {
    OwnedModels models = this->models(start);
    return value_of(decoder_.step(start, models, choices)).tokens;
  }

  /// Returns the largest difference between the probability of a sequence of `length` tokens and the
  /// target's, if a block is verified and the target completes it.
  double error(std::size_t length, ToArrays to_arrays) {
    const Token prompt[] = {0};
    std::map<std::vector<Token>, double> found;
    Enumerator outcomes;
    do {
      const auto block = tokens({prompt, length, 0, {}}, outcomes, to_arrays);
      complete({block.begin(), block.end()}, outcomes.probability(), length, found);
    } while (outcomes.next());
    std::map<std::vector<Token>, double> expected;
    complete({}, 1.0, length, expected);
    double most = 0.0;
    for (const auto& [sequence, probability] : expected)
      most = std::max(most, std::abs(probability - found[sequence]));
    return most;
  }

 private:
  OwnedModels models(const BlockStart& start) const {
    return pair_.models(method_, decoder_, WarpOptions::none(), start.left);
  }

  void complete(const std::vector<Token>& sequence, double probability, std::size_t length,
                std::map<std::vector<Token>, double>& out) const {
    if (sequence.size() == length) {
      out[sequence] += probability;
      return;
    }
    const auto logs = pair_.target.log_row(sequence.size(), sequence.empty() ? 0 : sequence.back());
    for (std::size_t x = 0; x < logs.size(); ++x) {
      std::vector<Token> longer = sequence;
      longer.push_back(static_cast<Token>(x));
      complete(longer, probability * std::exp(logs[x]), length, out);
    }
  }

  const TabularPair& pair_;
  std::string method_;
  Decoder decoder_;
  ArrayVerifier verifier_;
};

struct Method {
  const char* name;
  const char* plan = "";
  std::size_t drafts = 2;
  bool merges = true;  // copies may be given as multiplicities
};
constexpr Method methods[] = {{"speculative", "", 1},     {"block", "", 1},
                              {"spectr", "maximal"},      {"spectr", "k-seq"},
                              {"spectr", "recursive"},    {"spectr", "recursive-wor", 2, false},
                              {"spectr", "str++"},        {"spectr", "optimal"},
                              {"spectr", "otm-lp"},       {"spectr", "optimal-wor", 2, false},
                              {"specinfer", "recursive"}, {"batch", "", 2, false},
                              {"traversal", ""},          {"conditional", ""},
                              {"univer", "", 2, false},   {"gbv", ""}};

TEST(ArrayVerifier, SelectsAsTheDecoderDoes) {
  const TabularPair pair = TabularPair::random(5, 6, 3);
  const std::vector<Token> sequence = {0, 4, 2};
  for (const Method& method : methods) {
    ArrayBlocks blocks(pair, method.name, options_of(method.drafts, 3, method.plan));
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      CounterRandom a(seed, 7), b(seed, 7);
      const BlockStart start{sequence, 4, seed, {}};
      EXPECT_EQ(blocks.tokens(start, a), blocks.tokens_of_decoder(start, b))
          << method.name << " " << method.plan << ", seed " << seed;
    }
  }
}

TEST(ArrayVerifier, HasTheTargetsDistribution) {
  const TabularPair pair = TabularPair::random(3, 3, 5);
  for (const Method& method : methods) {
    ArrayBlocks blocks(pair, method.name, options_of(method.drafts, 2, method.plan));
    EXPECT_LE(blocks.error(3, arrays_of), 1e-12) << method.name << " " << method.plan;
  }
}

TEST(ArrayVerifier, HasTheTargetsDistributionIfCopiesAreCounted) {
  const TabularPair pair = TabularPair::random(2, 3, 6);
  for (const Method& method : methods) {
    if (!method.merges) continue;
    const std::size_t drafts = method.drafts == 1 ? 1 : 3;
    ArrayBlocks blocks(pair, method.name, options_of(drafts, 2, method.plan));
    EXPECT_LE(blocks.error(3, merged_arrays_of), 1e-12) << method.name << " " << method.plan;
  }
}

/// Returns arrays with copies as separate entries whose order has been lost.
OwnedArrays sorted_arrays_of(const Draft& draft, NodeDistributions& target, std::size_t vocabulary) {
  const OwnedArrays merged = merged_arrays_of(draft, target, vocabulary);
  OwnedArrays arrays{vocabulary};
  append(arrays.q, *value_of(target.at(TokenTree::root)));
  for (std::size_t i = 0; i < merged.tokens.size(); ++i) {
    for (std::int32_t copy = 0; copy < merged.multiplicities[i]; ++copy) {
      arrays.tokens.push_back(merged.tokens[i]);
      arrays.parents.push_back(-1);
      arrays.p.insert(arrays.p.end(), merged.p.begin() + static_cast<std::ptrdiff_t>(i * vocabulary),
                      merged.p.begin() + static_cast<std::ptrdiff_t>((i + 1) * vocabulary));
      arrays.q.insert(arrays.q.end(), merged.q.begin() + static_cast<std::ptrdiff_t>((i + 1) * vocabulary),
                      merged.q.begin() + static_cast<std::ptrdiff_t>((i + 2) * vocabulary));
    }
  }
  return arrays;
}

TEST(ArrayVerifier, IsBiasedBySiblingsThatAreNotInTheOrderDrawn) {
  const TabularPair pair = TabularPair::random(3, 2, 6);
  ArrayBlocks blocks(pair, "spectr", options_of(3, 1, "k-seq"));
  EXPECT_GE(blocks.error(2, sorted_arrays_of), 1e-3);
  EXPECT_LE(blocks.error(2, merged_arrays_of), 1e-12);
}

OwnedArrays small_tree() {
  return {
      .vocabulary = 4,
      .tokens = {2, 0, 1},
      .parents = {-1, -1, 0},
      .p = {0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.0, 0.0},
      .q = {0.5, 0.25, 0.125, 0.125, 0.125, 0.125, 0.25, 0.5, 0.25, 0.25, 0.25, 0.25, 0.0, 0.5, 0.5, 0.0}};
}

ArrayVerdict verdict_of(const DraftArrays& draft, const TargetArrays& target, std::uint64_t seed) {
  CounterRandom random(seed);
  return value_of(value_of(ArrayVerifier::make("traversal")).verify(draft, target, {}, random));
}

TEST(ArrayVerifier, TakesFloatsAndLogitsAsItTakesDoubles) {
  const OwnedArrays arrays = small_tree();
  const std::vector<float> p(arrays.p.begin(), arrays.p.end()), q(arrays.q.begin(), arrays.q.end());
  std::vector<double> logits;
  for (const double x : arrays.q) logits.push_back(std::log(x) + 3.0);
  const Warp none = value_of(Warp::make(WarpOptions::none()));
  DraftArrays floats = arrays.draft();
  floats.probabilities.values = std::span(p);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto expected = verdict_of(arrays.draft(), arrays.target(), seed);
    EXPECT_EQ(verdict_of(floats, {.rows = {std::span(q), 4}}, seed).tokens, expected.tokens);
    EXPECT_EQ(verdict_of(arrays.draft(), {{std::span(logits), 4}, &none}, seed).tokens, expected.tokens);
  }
}

TEST(ArrayVerifier, LetsSiblingsShareARow) {
  const OwnedArrays arrays = small_tree();
  DraftArrays shared = arrays.draft();
  const std::vector<std::int32_t> rows = {1, 1, 2};
  shared.rows = rows;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(verdict_of(shared, arrays.target(), seed).tokens,
              verdict_of(arrays.draft(), arrays.target(), seed).tokens);
  }
}

TEST(ArrayVerifier, ReturnsTheAcceptedEntries) {
  const OwnedArrays arrays = small_tree();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ArrayVerdict verdict = verdict_of(arrays.draft(), arrays.target(), seed);
    ASSERT_EQ(verdict.tokens.size(), verdict.path.size() + 1);
    std::int32_t above = -1;
    for (std::size_t i = 0; i < verdict.path.size(); ++i) {
      EXPECT_EQ(arrays.tokens[verdict.path[i]], verdict.tokens[i]);
      EXPECT_EQ(arrays.parents[verdict.path[i]],
                std::exchange(above, static_cast<std::int32_t>(verdict.path[i])));
    }
  }
}

TEST(ArrayVerifier, WithoutDraftsDrawsFromTheTarget) {
  const std::vector<double> q = {0.0, 1.0};
  const ArrayVerdict verdict =
      verdict_of({.tokens = {}, .probabilities = {std::span(q).first(0), 2}}, {.rows = {std::span(q), 2}}, 1);
  EXPECT_THAT(verdict.tokens, testing::ElementsAre(1));
  EXPECT_EQ(verdict.last_source, Source::target);
}

std::string refusal(const char* method, const OwnedArrays& arrays) {
  const auto verifier = ArrayVerifier::make(method);
  if (!verifier) return verifier.error().message;
  CounterRandom random(1);
  const auto verdict = verifier->verify(arrays.draft(), arrays.target(), {}, random);
  return verdict ? "accepted" : verdict.error().message;
}

TEST(ArrayVerifier, NamesTheEntryThatItRefuses) {
  const auto changed = [](const std::function<void(OwnedArrays&)>& change) {
    OwnedArrays arrays = small_tree();
    change(arrays);
    return refusal("traversal", arrays);
  };
  EXPECT_EQ(changed([](OwnedArrays&) {}), "accepted");
  EXPECT_THAT(changed([](OwnedArrays& a) { a.tokens[1] = 4; }),
              HasSubstr("tokens[1] must lie in [0, 3], got 4"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.parents[0] = 0; }), HasSubstr("parents[0] must be -1"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.parents[2] = -2; }), HasSubstr("parents[2] must be -1"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.parents.pop_back(); }), HasSubstr("parents must have an entry"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.multiplicities = {1, 0, 1}; }), HasSubstr("multiplicities[1]"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.multiplicities = {1, 1024, 1}; }), HasSubstr("too large"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.p[1] = -0.25; }), HasSubstr("draft_probs[0][1] is -0.25"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.p[1] = NAN; }), HasSubstr("draft_probs[0][1] is nan"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.q[5] = INFINITY; }), HasSubstr("target_probs[1][1] is inf"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.q[5] = 0.2; }), HasSubstr("target_probs[1] sums to 1.075"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.q.resize(12); }), HasSubstr("target_probs must have 4 rows"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.p.resize(8); }),
              HasSubstr("draft_probs must have a row for each"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.tokens[2] = 3; }), HasSubstr("probability 0 in draft_probs[2]"));
  EXPECT_THAT(changed([](OwnedArrays& a) { a.p[0] = 0.3, a.p[1] = 0.2; }), HasSubstr("one distribution"));
}

TEST(ArrayVerifier, RefusesDraftsThatAMethodDoesNotMake) {
  OwnedArrays arrays = small_tree();
  EXPECT_THAT(refusal("block", arrays), HasSubstr("takes one chain"));
  EXPECT_THAT(refusal("univer", arrays), HasSubstr("the likeliest tokens"));
  EXPECT_EQ(refusal("recursive-wor", arrays), "accepted");
  EXPECT_THAT(refusal("epsilon-opt", arrays), HasSubstr("at most 1 draft"));
  EXPECT_THAT(refusal("mtad", arrays), HasSubstr("does not verify drafts from given distributions"));
  EXPECT_THAT(refusal("nonsense", arrays), HasSubstr("there is no method or plan 'nonsense'"));
  arrays.tokens = {2, 2, 1};
  EXPECT_THAT(refusal("recursive-wor", arrays), HasSubstr("drawn twice"));
  arrays.multiplicities = {2, 1, 1};
  EXPECT_THAT(refusal("batch", arrays), HasSubstr("multiplicities[0]"));
  EXPECT_THAT(refusal("gbv", arrays), HasSubstr("sequences that do not branch"));
}

}  // namespace
}  // namespace spectr
