#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"
#include "spectr/lm/tabular_model.h"

namespace spectr::test {

/// A target and its draft models as tables, on which decoders can be enumerated.
struct TabularPair {
  std::vector<TabularModel> drafts;
  TabularModel target;

  /// Rows of uniform random numbers: first those of the drafts, then the target's.
  static TabularPair random(std::size_t vocabulary, std::size_t steps, std::uint32_t seed,
                            std::size_t drafts = 1);
  /// The same with many zeros, so that supports are short, unequal and sometimes disjoint.
  static TabularPair sparse(std::size_t vocabulary, std::size_t steps, std::uint32_t seed,
                            std::size_t drafts = 1);
  /// One distribution of the draft and one of the target at every step and after every token.
  static TabularPair constant(std::span<const double> p, std::span<const double> q, std::size_t drafts = 1);
  /// The target as its own draft.
  TabularPair with_equal_draft() const { return {{target}, target}; }

  std::size_t vocabulary() const { return target.vocabulary(); }

  /// Fresh sessions for a method's decoder that may emit up to `tokens` tokens, with as many drafts as it
  /// takes.
  Models models(std::string_view method, const Decoder& decoder, const WarpOptions& warp, std::size_t tokens,
                std::shared_ptr<const LogitRule> rule = nullptr) const;
};

/// What enumerating a method says: how far the distribution of whole outputs is from the target's, and its
/// cost.
struct MethodDistribution {
  double tv;
  DecoderDistribution exact;
};

struct EnumerationSettings {
  std::size_t horizon = 4;
  std::vector<Token> ends = {};
  WarpOptions warp = WarpOptions::none();
  Token start = 0;
  std::shared_ptr<const LogitRule> rule = nullptr;
};

/// Throws std::runtime_error where the method cannot be made or enumerated.
MethodDistribution method_distribution(const TabularPair& pair, std::string_view method,
                                       const MethodOptions& options,
                                       const EnumerationSettings& settings = {});

/// The decoder of a method by name; throws where it cannot be made.
Decoder decoder_of(std::string_view method, const MethodOptions& options);

/// A row more costs a fifth of a pass, a draft model a tenth of the target.
std::shared_ptr<const Costs> costs_of(std::size_t draft_models);

/// For `auto`: a pass of r rows of the target costs 1 + slope (r − 1), one of each draft model a share of it.
MethodOptions measured(double slope, const std::vector<double>& drafts);

/// What a block takes by those costs where a draft model, or none, has drafted so many nodes on so many
/// levels: its first pass reads two tokens, the others a level of average size.
double seconds_by(const Costs& costs, std::optional<std::size_t> model, std::size_t nodes, std::size_t depth);

/// K, L and maybe a plan, and the costs of one draft model.
MethodOptions options_of(std::size_t drafts, std::size_t length, std::string_view plan = "");

/// Vocabulary, sequences and their length.
struct Shape {
  std::size_t vocabulary, drafts, length;

  /// V^(K·L), the ways in which the sequences can be drawn.
  double tuples() const;
  std::string text() const { return fmt::format("V {}, K {}, L {}", vocabulary, drafts, length); }
};

/// Every shape of V 2 … 4, K ≤ max_drafts and L ≤ 3 with more_than < V^(K·L) ≤ max.
std::vector<Shape> shapes(double more_than, double max, std::size_t max_drafts = 3);

}  // namespace spectr::test
