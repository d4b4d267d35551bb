// SpecTr, section 4: testing each draft as if it were the only one is not valid.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lab/distributions.h"
#include "lab/figures/figures.h"
#include "lab/theory/naive_repetition.h"
#include "spectr/base/enumerator.h"

namespace spectr::lab {
namespace {

constexpr std::size_t max_drafts = 8;

struct Case {
  double a, b;  // Ber(a) → Ber(b)

  std::string name() const { return fmt::format("Ber({}) → Ber({})", a, b); }
};
constexpr Case cases[] = {{1.0, 0.5}, {0.75, 0.25}, {0.25, 0.5}};

/// Returns P(1) by enumeration of all outcomes of the procedure.
double enumerate(const Distribution& p, const Distribution& q, std::size_t k) {
  double of_one = 0.0;
  Enumerator choices;
  do {
    if (naive_repetition(p, q, k, choices) == 1) of_one += choices.probability();
  } while (choices.next());
  return of_one;
}

}  // namespace

Result<Report> spectr_naive(const Context&) {
  DataTable data({"case", "k", "naive", "enumerated", "k_seq", "target"});
  double off = 0.0, k_seq_off = 0.0;
  SPECTR_TRY(const PlanRule* k_seq, find_plan("k-seq"));
  for (const Case& c : cases) {
    const Distribution p = bernoulli(c.a), q = bernoulli(c.b);
    for (std::size_t k = 1; k <= max_drafts; ++k) {
      const double naive = naive_distribution(p, q, k)[1], enumerated = enumerate(p, q, k);
      SPECTR_TRY(const auto plan, k_seq->build(DraftDistributions(p, k), q, {}));
      const double valid = enumerate_distribution(*plan, 2)[1];
      data.add({c.name(), static_cast<double>(k), naive, enumerated, valid, c.b});
      off = std::max(off, std::abs(naive - enumerated));
      k_seq_off = std::max(k_seq_off, std::abs(valid - c.b));
    }
  }
  Figure figure{"Drafts tested as if each were the only one", {}};
  for (const Case& c : cases) {
    const auto rows = data.where({{"case", c.name()}});
    figure.panels.push_back(
        {c.name(),
         {.label = "number of drafts k", .from = 0.0, .to = max_drafts + 1.0, .step = 1.0},
         {.label = "probability of token 1", .from = 0.0, .to = 1.6},
         {{"repeated maximal coupling", Style::joined, 0, points(data, rows, "k", "naive")},
          {"k-Seq", Style::joined, 1, points(data, rows, "k", "k_seq")},
          {"target", Style::dashes, 7, points(data, rows, "k", "target")}},
         "top left"});
  }
  std::vector<Line> summary;
  for (const std::size_t k : {1, 2, 4, 8}) {
    const std::size_t row = data.where({{"case", cases[0].name()}, {"k", static_cast<double>(k)}}).front();
    summary.push_back({fmt::format("{}, k = {}: P(1), ½ in the target", cases[0].name(), k),
                       fmt::format("{:.6f}", data.number(row, "naive")),
                       fmt::format("≥ 1 − 2^−{} = {:.6f}", k, 1.0 - std::ldexp(1.0, -static_cast<int>(k)))});
  }
  summary.push_back({"largest |formula − enumerated|", fmt::format("{:.1e}", off)});
  summary.push_back({"largest |k-Seq − target| (enumerated)", fmt::format("{:.1e}", k_seq_off), "0"});
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
