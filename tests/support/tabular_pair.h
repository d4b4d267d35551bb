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

  /// Returns rows of uniform random numbers: first those of the drafts, then the target's.
  static TabularPair random(std::size_t vocabulary, std::size_t steps, std::uint32_t seed,
                            std::size_t drafts = 1);
  /// Returns rows with many zeros, so that supports are short, unequal and sometimes disjoint.
  static TabularPair sparse(std::size_t vocabulary, std::size_t steps, std::uint32_t seed,
                            std::size_t drafts = 1);
  /// Returns one draft distribution and one target distribution for all steps and tokens.
  static TabularPair constant(std::span<const double> p, std::span<const double> q, std::size_t drafts = 1);
  /// Returns a pair in which the target is its own draft.
  TabularPair with_equal_draft() const { return {{target}, target}; }

  std::size_t vocabulary() const { return target.vocabulary(); }

  /// Starts sessions for a method's decoder that may emit up to `tokens` tokens, with as
  /// many drafts as the method takes.
  OwnedModels models(std::string_view method, const Decoder& decoder, const WarpOptions& warp,
                     std::size_t tokens, std::shared_ptr<const LogitRule> rule = nullptr) const;
};

/// The result of enumerating a method: the total variation between the distribution of whole
/// outputs and the target's, and its cost.
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

/// Throws std::runtime_error if the method cannot be made or enumerated.
MethodDistribution method_distribution(const TabularPair& pair, std::string_view method,
                                       const MethodOptions& options,
                                       const EnumerationSettings& settings = {});

/// Returns the decoder of a method by name; throws if it cannot be made.
Decoder decoder_of(std::string_view method, const MethodOptions& options);

/// Returns costs of 1/5 of a pass for each additional row, and of 1/10 of the target for a draft model.
std::shared_ptr<const Costs> costs_of(std::size_t draft_models);

/// Returns options for `auto`: a target pass of r rows costs 1 + slope (r − 1), a draft pass a share of it.
MethodOptions measured(double slope, const std::vector<double>& drafts);

/// Returns the time of a block by those costs if a draft model, or none, has drafted `nodes` nodes on `depth`
/// levels: its first pass reads two tokens, each other pass a level of average size.
double seconds_by(const Costs& costs, std::optional<std::size_t> model, std::size_t nodes, std::size_t depth);

/// Returns options with K, L, optionally a plan, and the costs of one draft model.
MethodOptions options_of(std::size_t drafts, std::size_t length, std::string_view plan = "");

/// The sizes of a block: vocabulary, number of sequences and their length.
struct Shape {
  std::size_t vocabulary, drafts, length;

  /// Returns V^(K·L), the number of ways in which the sequences can be drawn.
  double tuples() const;
  std::string text() const { return fmt::format("V {}, K {}, L {}", vocabulary, drafts, length); }
};

/// Returns all shapes with V 2 … 4, K ≤ max_drafts and L ≤ 3 for which more_than < V^(K·L) ≤ max.
std::vector<Shape> shapes(double more_than, double max, std::size_t max_drafts = 3);

}  // namespace spectr::test
