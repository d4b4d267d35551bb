// Exact distributions of methods on small tables, by enumeration of every draft and every choice.
//
//     const spectr::LawRange range{.vocabulary = 3, .horizon = 4};
//     const auto law = spectr::law("block", {.length = 2}, draft, target, range).value();
//     law.tv_error;  // 0 within rounding if the method is lossless
//
// Errors: bad_input above 1e6 sequences or 5e7 outcomes, and for rows that are not distributions.
// Threads: the function has no state.
// Cost: exponential in the horizon and the number of drafts; seconds at the limits.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "spectr/error.h"
#include "spectr/token.h"

namespace spectr::inline v0 {

/// The shape of a method's drafts.
struct LawOptions {
  std::string plan = {};   ///< empty: the method's default
  std::size_t drafts = 1;  ///< K, at least 1
  std::size_t length = 1;  ///< L, at least 1
};

/// The sequences whose distribution is computed.
struct LawRange {
  std::size_t vocabulary = 0;
  std::size_t horizon = 0;  ///< tokens of a sequence
  Token start = 0;          ///< the token before the first
};

/// An exact distribution, and what it takes to generate it.
struct Law {
  double tv_error = 0.0;  ///< total variation distance to the target's own distribution
  double expected_target_calls = 0.0;
  double expected_rejections = 0.0;
  double block_efficiency = 0.0;
  double expected_tokens_per_block =
      0.0;  ///< first block of an endless sequence; NaN if it was not enumerated
  /// [V ^ horizon]; the index of a sequence x₁ … x_h has these digits in base V, x₁ first.
  std::vector<double> distribution;
};

/// Computes the distribution of a method's output. draft and target: [steps, V, V], rows by step and last
/// token; later steps use the rows of the last step.
inline Result<Law> law(const std::string& method, const LawOptions& options, std::span<const double> draft,
                       std::span<const double> target, const LawRange& range) {
  const std::size_t V = range.vocabulary;
  constexpr std::size_t max_vocabulary = 1000, max_sequences = 1'000'000;
  if (V < 1 || V > max_vocabulary)
    return detail::bad_input("vocabulary must lie in [1, 1000], got " + std::to_string(V));
  if (draft.size() != target.size() || draft.empty() || draft.size() % (V * V) != 0) {
    return detail::bad_input("draft and target must have the same multiple of " + std::to_string(V * V) +
                             " numbers, got " + std::to_string(draft.size()) + " and " +
                             std::to_string(target.size()));
  }
  std::size_t sequences = 1;
  for (std::size_t i = 0; i < range.horizon && V > 1 && sequences <= max_sequences; ++i) sequences *= V;
  if (sequences > max_sequences) {
    return detail::bad_input("horizon " + std::to_string(range.horizon) +
                             " has more than 1000000 sequences of " + std::to_string(V) + " tokens");
  }
  const spectr_law_options settings{.plan = options.plan.empty() ? nullptr : options.plan.c_str(),
                                    .drafts = options.drafts,
                                    .length = options.length};
  spectr_law_result found;
  Law law;
  law.distribution.resize(sequences);
  const Result<void> done = detail::checked([&](spectr_error* error) {
    return spectr_law(method.c_str(), &settings, draft.data(), target.data(), V, draft.size() / (V * V),
                      range.start, range.horizon, &found, law.distribution.data(), error);
  });
  if (!done) return done.error();
  law.tv_error = found.tv_error;
  law.expected_target_calls = found.expected_target_calls;
  law.expected_rejections = found.expected_rejections;
  law.block_efficiency = found.block_efficiency;
  law.expected_tokens_per_block = found.expected_tokens_per_block;
  return law;
}

}  // namespace spectr::inline v0
