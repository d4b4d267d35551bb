// Drafts from continuations of the sequence's earlier suffixes: the automaton's counts, the proposed tree,
// and its verification, which is exact and accepts the longest possible path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/suffix_drafter.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Sequence = std::vector<Token>;
using Match = SuffixAutomaton::Match;

SuffixAutomaton automaton_of(const Sequence& sequence) {
  SuffixAutomaton automaton;
  for (const Token token : sequence) automaton.append(token);
  return automaton;
}

/// Returns, for each token, how often it follows `part` in `sequence`.
std::map<Token, std::uint32_t> followers(const Sequence& sequence, std::span<const Token> part) {
  std::map<Token, std::uint32_t> counts;
  for (std::size_t at = 0; at + part.size() < sequence.size(); ++at) {
    if (std::ranges::equal(std::span(sequence).subspan(at, part.size()), part))
      ++counts[sequence[at + part.size()]];
  }
  return counts;
}

bool occurs(const Sequence& sequence, std::span<const Token> part) {
  return !std::ranges::search(sequence, part).empty();
}

std::map<Token, std::uint32_t> continuations(const SuffixAutomaton& automaton, SuffixAutomaton::State state) {
  std::map<Token, std::uint32_t> counts;
  automaton.for_each_continuation(state, [&](Token token, std::uint32_t n) { counts[token] = n; });
  return counts;
}

/// Expects the automaton's counts for every suffix of `text` within the match to equal plain counts.
void expect_counts(const SuffixAutomaton& automaton, const Sequence& sequence, const Sequence& text,
                   const Match& match) {
  auto state = match.state;
  for (std::size_t length = match.length; length > 0; --length) {
    if (length == automaton.length(automaton.link(state))) state = automaton.link(state);
    const auto expected = followers(sequence, std::span(text).last(length));
    EXPECT_EQ(continuations(automaton, state), expected) << length;
    EXPECT_EQ(automaton.continuations(state), expected.size());
  }
}

/// Returns a sequence with repetitions of many lengths.
Sequence repetitive(std::mt19937& random, std::size_t length, std::size_t V) {
  Sequence sequence;
  while (sequence.size() < length) {
    if (sequence.size() > 4 && random() % 3 == 0) {
      const std::size_t from = random() % sequence.size(), count = 1 + random() % 60;
      for (std::size_t i = 0; i < count; ++i) sequence.push_back(sequence[from + i]);
    } else {
      sequence.push_back(static_cast<Token>(random() % V));
    }
  }
  return sequence;
}

TEST(SuffixAutomaton, CountsWhatFollowsEveryRepeatedEnding) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const Sequence sequence = repetitive(random, 90, 2 + random() % 3);
    SuffixAutomaton automaton;
    Sequence so_far;
    for (const Token token : sequence) {
      automaton.append(token);
      so_far.push_back(token);
      const Match match = automaton.repeated_end();
      // The longest suffix that also occurs earlier.
      std::size_t longest = 0;
      const Sequence before(so_far.begin(), so_far.end() - 1);
      while (longest < std::min(SuffixAutomaton::max_match, before.size()) &&
             occurs(before, std::span(so_far).last(longest + 1)))
        ++longest;
      ASSERT_EQ(match.length, longest);
      if (so_far.size() % 7 == 0) expect_counts(automaton, so_far, so_far, match);
    }
  }
}

TEST(SuffixAutomaton, MatchesTheLongestEndingOfAnotherText) {
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const Sequence corpus = repetitive(random, 120, 3), text = repetitive(random, 60, 4);
    const SuffixAutomaton automaton = automaton_of(corpus);
    Match match;
    Sequence so_far;
    for (const Token token : text) {
      match = automaton.advance(match, token);
      so_far.push_back(token);
      std::size_t longest = 0;
      while (longest < std::min(SuffixAutomaton::max_match, so_far.size()) &&
             occurs(corpus, std::span(so_far).last(longest + 1)))
        ++longest;
      ASSERT_EQ(match.length, longest);
      expect_counts(automaton, corpus, so_far, match);
    }
  }
}

TEST(SuffixAutomaton, CountsARunOfOneTokenWithoutEnd) {
  const Sequence run(1000, 5);
  const SuffixAutomaton automaton = automaton_of(run);
  const Match match = automaton.repeated_end();
  EXPECT_EQ(match.length, SuffixAutomaton::max_match);
  expect_counts(automaton, run, run, match);
}

/// Returns the paths of a draft as token sequences.
std::set<Sequence> paths(const Draft& draft) {
  std::set<Sequence> all;
  for (const Draw& draw : draft.draws()) {
    Sequence path;
    for (const NodeId node : draft.tree().path(draw.node)) path.push_back(draft.tree().token(node));
    all.insert(path);
  }
  return all;
}

/// A drafter with given settings, and its proposals after sequences of at most 100 tokens.
class Proposals {
 public:
  Proposals(std::size_t length, double min_reach, const Sequence& corpus = {})
      : drafter_(length, min_reach,
                 corpus.empty() ? nullptr : std::make_shared<SuffixAutomaton>(automaton_of(corpus))),
        pair_(TabularPair::random(100, 1, 1)),
        models_(pair_.models("plain", decoder_of("plain", {}), WarpOptions::none(), 1)) {}

  std::set<Sequence> after(const Sequence& sequence, std::size_t left = 99,
                           const std::vector<Token>& ends = {}) {
    CounterRandom choices(0);
    Draft draft(sequence.back());
    EXPECT_TRUE(drafter_.propose({sequence, left, 0, ends}, models_, choices, draft));
    EXPECT_LT(static_cast<std::size_t>(draft.tree().size()), drafter_.max_nodes(left) + 1);
    for (std::size_t i = 1; i < draft.draws().size(); ++i) {
      EXPECT_LE(draft.tree().depth(draft.draw(i - 1).node), draft.tree().depth(draft.draw(i).node));
    }
    return paths(draft);
  }

 private:
  SuffixDrafter drafter_;
  TabularPair pair_;
  OwnedModels models_;
};

TEST(SuffixDrafter, ProposesWhatFollowedWhereItContinuedInOneWay) {
  Proposals two(2, 0.1);
  EXPECT_THAT(two.after({1, 2, 3, 4, 5, 1, 2, 3}), UnorderedElementsAre(Sequence{4}, Sequence{4, 5}));
  EXPECT_THAT(two.after({1, 2, 3}), IsEmpty());
  EXPECT_THAT(two.after({1}), IsEmpty());
  EXPECT_THAT(two.after({1, 2, 3, 4, 5, 1, 2, 3}, 1), ElementsAre(Sequence{4}))
      << "no more than may be emitted";
  EXPECT_THAT(two.after({1, 2, 3, 4, 5, 1, 2, 3}, 9, {4}), ElementsAre(Sequence{4}))
      << "nothing after an end";
}

TEST(SuffixDrafter, ProposesATreeWhereContinuationsDiffer) {
  Proposals proposals(2, 0.1);
  EXPECT_THAT(proposals.after({1, 2, 3, 4, 9, 1, 2, 5, 6, 8, 1, 2}),
              UnorderedElementsAre(Sequence{3}, Sequence{3, 4}, Sequence{5}, Sequence{5, 6}));
}

TEST(SuffixDrafter, StopsWhereTheProductOfEstimatesFallsBelowTheBound) {
  // After 1 2 comes 3, once. The suffixes 2 and 1 2 estimate it at 1 − 2^−2.
  const Sequence sequence = {1, 2, 3, 4, 5, 1, 2};
  EXPECT_THAT(Proposals(9, 0.75).after(sequence), ElementsAre(Sequence{3}));
  EXPECT_THAT(Proposals(9, 0.76).after(sequence), IsEmpty());
  // Then comes 4, after three suffixes: ¾ · ⅞.
  EXPECT_THAT(Proposals(9, 0.75 * 0.875).after(sequence), ElementsAre(Sequence{3}, Sequence{3, 4}));
  // After 1 come 2 and 3, once each: ⅓ each.
  EXPECT_THAT(Proposals(1, 0.33).after({1, 2, 1, 3, 1}), ElementsAre(Sequence{2}, Sequence{3}));
  EXPECT_THAT(Proposals(1, 0.34).after({1, 2, 1, 3, 1}), IsEmpty());
}

TEST(SuffixDrafter, DraftsAtMost64Nodes) {
  Sequence sequence;
  for (Token next = 1; next < 99; ++next) {
    sequence.push_back(0);
    sequence.push_back(next);
  }
  sequence.push_back(0);
  EXPECT_EQ(Proposals(8, 0.0).after(sequence).size(), 64U);
  const Sequence run(200, 7);
  EXPECT_EQ(Proposals(100, 0.0).after(run).size(), 64U);
}

TEST(SuffixDrafter, DraftsFromACorpus) {
  Proposals proposals(2, 0.1, {1, 2, 3, 4, 5});
  EXPECT_THAT(proposals.after({9, 2, 3}), UnorderedElementsAre(Sequence{4}, Sequence{4, 5}));
  // The longer match has priority: 6 follows 3 in the text, 4 follows 2 3 in the corpus.
  EXPECT_THAT(Proposals(1, 0.5, {1, 2, 3, 4, 5}).after({3, 6, 9, 2, 3}), ElementsAre(Sequence{4}));
  EXPECT_THAT(Proposals(2, 0.1, {100, 200, 1, 300}).after({1}), IsEmpty()) << "tokens that the target lacks";
}

TEST(SuffixDrafter, ProposesTheSameWhateverItFollowedBefore) {
  std::mt19937 random(3);
  const Sequence sequence = repetitive(random, 80, 3), other = repetitive(random, 40, 3);
  Proposals following(6, 0.05, other);
  for (std::size_t length = 1; length <= sequence.size(); ++length) {
    const Sequence so_far(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(length));
    const auto expected = Proposals(6, 0.05, other).after(so_far);
    EXPECT_EQ(following.after(so_far), expected);
    if (length % 10 == 0) {  // switches to another sequence and back
      following.after(other);
      EXPECT_EQ(following.after(so_far), expected);
    }
  }
}

MethodOptions suffix_options(std::size_t length, double reach, const Sequence& corpus = {}) {
  MethodOptions options = options_of(1, length);
  options.suffix_reach = reach;
  if (!corpus.empty()) options.corpus = std::make_shared<SuffixAutomaton>(automaton_of(corpus));
  return options;
}

TEST(SuffixMethod, HasTheTargetsDistribution) {
  for (const std::size_t V : {2u, 3u}) {
    for (const double reach : {0.0, 0.1, 0.5}) {
      for (const Sequence& corpus : {Sequence{}, Sequence{0, 1, 1, 0, 0, 1}}) {
        for (const TabularPair& pair : {TabularPair::random(V, 6, 3), TabularPair::sparse(V, 6, 4)}) {
          const auto found =
              method_distribution(pair, "suffix", suffix_options(3, reach, corpus), {.horizon = 6});
          EXPECT_LE(found.tv, 1e-12);
          const auto ended = method_distribution(pair, "suffix", suffix_options(3, reach, corpus),
                                                 {.horizon = 6, .ends = {1}});
          EXPECT_LE(ended.tv, 1e-12);
        }
      }
    }
  }
}

TEST(SuffixMethod, HasAsManyTokensABlockAsItsTreeAllows) {
  const TabularPair pair = TabularPair::random(3, 9, 5);
  const Sequence prompt = {0, 1, 2, 0, 1, 1, 0, 1};
  const MethodOptions options = suffix_options(3, 0.05);
  Decoder decoder = decoder_of("suffix", options);
  OwnedModels models = pair.models("suffix", decoder, WarpOptions::none(), 9);
  // The expected value is 1 + Σ q(v) over the nodes of the tree.
  SuffixDrafter drafter(3, 0.05);
  CounterRandom choices(0);
  Draft draft(prompt.back());
  ASSERT_TRUE(drafter.propose({prompt, 9, 0, {}}, models, choices, draft));
  ASSERT_GT(draft.draws().size(), 3U);
  double expected = 1.0;
  for (const Sequence& path : paths(draft)) {
    double q = 1.0;
    Token last = prompt.back();
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto row = pair.target.log_row(prompt.size() - 1 + i, last);
      last = path[i];
      q *= std::exp(row[static_cast<std::size_t>(last)]);
    }
    expected += q;
  }
  EXPECT_NEAR(value_of(expected_block_tokens(decoder, models, prompt, {.horizon = 9})), expected, 1e-12);
}

}  // namespace
}  // namespace spectr
