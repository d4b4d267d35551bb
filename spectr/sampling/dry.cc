#include "spectr/sampling/dry.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

namespace spectr {
namespace {

/// Returns the number of tokens after the last sequence breaker, or of all tokens if there is none. If
/// several breakers begin at one token, the longest counts.
std::size_t unbroken_length(std::span<const Token> recent, const SequenceBreakers& breakers) {
  for (std::size_t i = recent.size(); i-- > 0;) {
    std::optional<std::size_t> longest;
    const auto [first, last] = breakers.equal_range(recent[i]);
    for (const auto& [head, tail] : std::ranges::subrange(first, last)) {
      const auto rest = recent.subspan(i + 1);
      if (tail.size() > rest.size() || !std::ranges::equal(tail, rest.first(tail.size()))) continue;
      longest = std::max(longest.value_or(0), tail.size());
    }
    if (longest) return recent.size() - i - 1 - *longest;
  }
  return recent.size();
}

/// Returns, for each k, the length of the longest common suffix of the sequence and the sequence without its
/// last k tokens: the Z-function of the reversed sequence. Cost: O(n).
RecycledVector<std::size_t> repeat_lengths(std::span<const Token> recent) {
  const std::size_t n = recent.size();
  const auto from_end = [&](std::size_t i) { return recent[n - 1 - i]; };
  RecycledVector<std::size_t> lengths(n, 0);
  std::size_t begin = 0, end = 0;  // the match that extends furthest
  for (std::size_t k = 1; k < n; ++k) {
    std::size_t length = k < end ? std::min(end - k, lengths[k - begin]) : 0;
    while (k + length < n && from_end(length) == from_end(k + length)) ++length;
    lengths[k] = length;
    if (k + length > end) {
      begin = k;
      end = k + length;
    }
  }
  return lengths;
}

bool is_breaker(Token token, const SequenceBreakers& breakers) {
  const auto [first, last] = breakers.equal_range(token);
  return std::any_of(first, last, [](const auto& one) { return one.second.empty(); });
}

}  // namespace

const std::vector<std::string>& default_sequence_breakers() {
  static const std::vector<std::string> breakers = {"\n", ":", "\"", "*"};
  return breakers;
}

RecycledVector<TokenPenalty> dry_penalties(const DryOptions& dry, std::span<const Token> sequence) {
  static const SequenceBreakers none;
  const SequenceBreakers& breakers = dry.breakers ? *dry.breakers : none;
  const auto recent = sequence.last(std::min(dry.penalty_last_n, sequence.size()));
  if (recent.size() <= dry.allowed_length) return {};
  const std::size_t limit = unbroken_length(recent, breakers);
  if (limit < dry.allowed_length) return {};

  // A token that follows an earlier occurrence of the sequence's suffix would lengthen the repetition.
  const RecycledVector<std::size_t> lengths = repeat_lengths(recent);
  RecycledVector<std::pair<Token, std::size_t>> repeats;
  for (std::size_t k = 1; k < recent.size(); ++k) {
    const std::size_t length = std::min(lengths[k], limit);
    if (length >= dry.allowed_length) repeats.emplace_back(recent[recent.size() - k], length);
  }
  std::ranges::sort(repeats, std::ranges::greater());  // among equal tokens, the longest first
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  repeats.erase(std::ranges::unique(repeats, same).begin(), repeats.end());

  // llama.cpp limits powers to the range of single precision.
  constexpr double max_log = 88.7228391;
  const double max_exponent = dry.base > 1.000001 ? std::floor(max_log / std::log(dry.base)) : 0.0;
  RecycledVector<TokenPenalty> penalties;
  for (const auto& [token, length] : repeats) {
    if (is_breaker(token, breakers)) continue;
    const auto exponent = static_cast<double>(length - dry.allowed_length);
    const double bounded = max_exponent > 0.0 ? std::min(exponent, max_exponent) : exponent;
    penalties.push_back({token, dry.multiplier * std::pow(dry.base, bounded)});
  }
  return penalties;
}

}  // namespace spectr
