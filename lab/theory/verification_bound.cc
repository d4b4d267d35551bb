#include "lab/theory/verification_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spectr/transport/programs/linear_program.h"

namespace spectr::lab {
namespace {

constexpr std::size_t max_prefixes = 63, max_antichains = 200'000;

/// A set of prefixes, one bit each.
using Prefixes = std::uint64_t;

struct Prefix {
  std::vector<Token> tokens;
  std::size_t parent;  // max_prefixes: none
  double p, q;         // p of the whole prefix, q of its last token
};

/// Returns all prefixes of 1 … L tokens that p reaches, shorter ones first.
Result<std::vector<Prefix>> prefixes_of(const PrefixTableModel& p, const PrefixTableModel& q,
                                        std::size_t length) {
  std::vector<Prefix> all;
  // Adds a child of `prefix`, which is not an element of `all`, for every token.
  const auto extend = [&](const Prefix& prefix, std::size_t parent) {
    const auto log_p = p.log_row(prefix.tokens), log_q = q.log_row(prefix.tokens);
    for (std::size_t y = 0; y < log_p.size(); ++y) {
      const double p_y = std::exp(log_p[y]);
      if (!(p_y > 0.0)) continue;
      all.push_back({prefix.tokens, parent, prefix.p * p_y, std::exp(log_q[y])});
      all.back().tokens.push_back(static_cast<Token>(y));
    }
  };
  extend({{}, max_prefixes, 1.0, 1.0}, max_prefixes);
  for (std::size_t i = 0; i < all.size() && all[i].tokens.size() < length; ++i) {
    if (all.size() > max_prefixes) break;
    extend(Prefix(all[i]), i);
  }
  if (all.size() > max_prefixes) return error("there are more than {} prefixes", max_prefixes);
  return all;
}

/// Returns every antichain of the prefixes below `parent`, including the empty one.
Result<std::vector<Prefixes>> antichains_below(const std::vector<Prefix>& prefixes, std::size_t parent) {
  std::vector<Prefixes> all = {0};
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i].parent != parent) continue;
    SPECTR_TRY(std::vector<Prefixes> here, antichains_below(prefixes, i));
    here.push_back(Prefixes{1} << i);
    if (all.size() * here.size() > max_antichains)
      return error("there are more than {} antichains", max_antichains);
    std::vector<Prefixes> joined;
    for (const Prefixes a : all) {
      for (const Prefixes b : here) joined.push_back(a | b);
    }
    all = std::move(joined);
  }
  return all;
}

std::vector<std::size_t> members(Prefixes set) {
  std::vector<std::size_t> members;
  for (; set != 0; set &= set - 1) members.push_back(static_cast<std::size_t>(std::countr_zero(set)));
  return members;
}

}  // namespace

Result<double> verification_bound(const PrefixTableModel& p, const PrefixTableModel& q, std::size_t drafts,
                                  std::size_t length) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::size_t max_cuts_per_round = 40;
  SPECTR_TRY(const std::vector<Prefix> prefixes, prefixes_of(p, q, length));
  SPECTR_TRY(std::vector<Prefixes> antichains, antichains_below(prefixes, max_prefixes));

  LinearProgram program(prefixes.size());
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    std::vector<LinearProgram::Term> terms = {{i, 1.0}};
    const bool is_first = prefixes[i].parent == max_prefixes;
    if (!is_first) terms.push_back({prefixes[i].parent, -prefixes[i].q});
    program.add_row(-infinity, terms, is_first ? prefixes[i].q : 0.0);
  }
  const std::vector<double> cost(prefixes.size(), -1.0);
  for (;;) {
    auto f = program.minimise(cost);
    if (!f) return std::unexpected(static_cast<Error>(f.error()));
    std::vector<std::pair<double, std::size_t>> violated;
    for (std::size_t a = 0; a < antichains.size(); ++a) {
      double accepted = 0.0, reached = 0.0;
      for (const std::size_t i : members(antichains[a])) {
        accepted += (*f)[i];
        reached += prefixes[i].p;
      }
      const double missing = std::pow(std::max(0.0, 1.0 - reached), static_cast<double>(drafts));
      if (const double excess = accepted - (1.0 - missing); excess > 1e-10) violated.emplace_back(-excess, a);
    }
    if (violated.empty()) {
      double tokens = 1.0;
      for (const double f_x : *f) tokens += f_x;
      return tokens;
    }
    std::ranges::sort(violated);
    for (std::size_t cut = 0; cut < std::min(max_cuts_per_round, violated.size()); ++cut) {
      std::vector<LinearProgram::Term> terms;
      double reached = 0.0;
      for (const std::size_t i : members(antichains[violated[cut].second])) {
        terms.push_back({i, 1.0});
        reached += prefixes[i].p;
      }
      program.add_row(-infinity, terms,
                      1.0 - std::pow(std::max(0.0, 1.0 - reached), static_cast<double>(drafts)));
    }
  }
}

}  // namespace spectr::lab
