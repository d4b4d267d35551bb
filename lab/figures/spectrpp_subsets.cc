// SpecTr++, section 5: the best generalised k-Seq over all sequences of subsets, compared with nested
// prefixes of the tokens by q/p.

#include <fmt/format.h>

#include <algorithm>

#include "lab/distributions.h"
#include "lab/figures/drawn_plans.h"
#include "lab/figures/figures.h"
#include "lab/theory/subset_k_seq.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

constexpr std::size_t drafts = 2, min_tokens = 2, max_tokens = 5;

}  // namespace

Result<Report> spectrpp_subsets(const Context& context) {
  const std::size_t pairs = context.runs_or(25, 3);
  const std::size_t last = context.quick ? max_tokens - 1 : max_tokens;
  DataTable data({"vocabulary", "pair", "str_plus_plus", "prefixes", "subsets", "optimum"});
  std::mt19937 generator(context.seed);
  std::vector<Line> summary;
  for (std::size_t vocabulary = min_tokens; vocabulary <= last; ++vocabulary) {
    double gap = 0.0;
    std::size_t better = 0;  // number of pairs for which other subsets are better
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const Distribution p = random_distribution(vocabulary, generator),
                         q = random_distribution(vocabulary, generator);
      SPECTR_TRY(const double plus_plus, acceptance("str++", p, q, drafts));
      SPECTR_TRY(const double prefixes, min_rejection_of_prefixes(p, q, drafts, 0.0));
      SPECTR_TRY(const double subsets, min_rejection_of_subsets(p, q, drafts));
      gap = std::max(gap, prefixes - subsets);
      better += prefixes - subsets > 1e-9 ? 1 : 0;
      data.add({static_cast<double>(vocabulary), static_cast<double>(pair), plus_plus, 1.0 - prefixes,
                1.0 - subsets, optimal_acceptance(p, q, drafts)});
      context.progress((vocabulary - min_tokens) * pairs + pair + 1, (last - min_tokens + 1) * pairs);
    }
    summary.push_back(
        {fmt::format("{} tokens, {} pairs of laws: pairs where other subsets are better", vocabulary, pairs),
         fmt::format("{}", better)});
    summary.push_back({"… by at most", fmt::format("{:.4f}", gap)});
  }
  const auto rows = data.where({{"vocabulary", static_cast<double>(last)}});
  Panel panel{fmt::format("{} tokens, k = {}", last, drafts),
              {.label = "acceptance, all sequences of subsets"},
              {.label = "acceptance"},
              {{"best nested prefixes", Style::marks, 6, points(data, rows, "subsets", "prefixes")},
               {drawn_str_plus_plus.title, Style::marks, drawn_str_plus_plus.colour,
                points(data, rows, "subsets", "str_plus_plus")}}};
  return Report{
      std::move(data), {"Generalised k-Seq: which subsets", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
