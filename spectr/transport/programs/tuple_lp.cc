#include "spectr/transport/programs/tuple_lp.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/transport/drafting.h"
#include "spectr/transport/programs/linear_program.h"

namespace spectr {
namespace {

/// All draft tuples whose distinct tokens are `tokens`.
struct Row {
  std::vector<Token> tokens;    // ascending
  double p = 0.0;               // probability that the drafts form this set
  std::vector<double> weights;  // π(set, y) for each y, then the slack; the slack is 1 where p underflows
};

struct Rows {
  std::vector<Row> rows;
  std::vector<std::uint32_t> of;  // row of each tuple; the first draft's entry varies slowest
};

/// Returns the probability that the drafts are these entries of their distributions.
double probability_of(const DraftDistributions& p, std::span<const std::size_t> entries, Drafting drafting) {
  double probability = 1.0;
  for (std::size_t i = 0; i < entries.size(); ++i) probability *= p[i].probabilities()[entries[i]];
  if (drafting == Drafting::independent || probability == 0.0) return probability;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const auto tried = entries.first(i);
    Sum untried;  // summed directly, because 1 − tried could cancel to a tiny number
    for (std::size_t j = 0; j < p[i].size(); ++j) {
      if (std::ranges::find(tried, j) == tried.end()) untried.add(p[i].probabilities()[j]);
    }
    if (std::ranges::find(tried, entries[i]) != tried.end()) return 0.0;
    probability /= untried.value();
  }
  return probability;
}

/// Enumerates all tuples; entry[i] counts through the entries of distribution i.
Rows rows_of(const DraftDistributions& p, Drafting drafting) {
  Rows result;
  std::map<std::vector<Token>, std::uint32_t> known;
  std::vector<std::size_t> entry(p.count(), 0);
  std::vector<Token> set;
  for (bool more = true; more;) {
    const double probability = probability_of(p, entry, drafting);
    set.clear();
    for (std::size_t i = 0; i < p.count(); ++i) set.push_back(p[i].token(entry[i]));
    std::ranges::sort(set);
    set.erase(std::ranges::unique(set).begin(), set.end());
    const auto [at, added] = known.try_emplace(set, static_cast<std::uint32_t>(result.rows.size()));
    if (added) result.rows.push_back({.tokens = set, .p = 0.0, .weights = {}});
    result.rows[at->second].p += probability;
    result.of.push_back(at->second);

    more = false;
    for (std::size_t i = p.count(); i-- > 0 && !more;) {
      entry[i] = (entry[i] + 1) % p[i].size();
      more = entry[i] != 0;
    }
  }
  return result;
}

/// Solves the program and stores the solver's weights in the rows. Impossible sets and tokens with q = 0 are
/// left out, so dense and short distributions give the same result.
Result<void> solve(std::vector<Row>& rows, const Distribution& q) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Column {
    std::size_t row, entry;
  };
  std::vector<Column> columns;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].weights.assign(rows[r].tokens.size(), 0.0);
    for (std::size_t i = 0; i < rows[r].tokens.size(); ++i) {
      if (rows[r].p > 0.0 && q[rows[r].tokens[i]] > 0.0) columns.push_back({r, i});
    }
  }
  if (columns.empty()) return {};

  std::map<std::size_t, std::vector<LinearProgram::Term>> of_row;
  std::map<Token, std::vector<LinearProgram::Term>> of_token;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    of_row[columns[c].row].push_back({c, 1.0});
    of_token[rows[columns[c].row].tokens[columns[c].entry]].push_back({c, 1.0});
  }
  LinearProgram program(columns.size());
  for (const auto& [r, terms] : of_row) program.add_row(-infinity, terms, rows[r].p);
  for (const auto& [y, terms] : of_token) program.add_row(-infinity, terms, q[y]);
  const std::vector<double> reward(columns.size(), -1.0);
  SPECTR_TRY(const auto solution, program.minimise(reward));
  for (std::size_t c = 0; c < columns.size(); ++c)
    rows[columns[c].row].weights[columns[c].entry] = solution[c];
  return {};
}

/// Adjusts the solver's weights to satisfy rows and columns exactly and fills the slack that its tolerance
/// left. Stores the slacks of the rows and returns the slacks of the columns.
std::vector<double> repair(std::vector<Row>& rows, const Distribution& q) {
  std::vector<double> left(q.vocabulary(), 0.0);
  for (std::size_t i = 0; i < q.size(); ++i)
    left[static_cast<std::size_t>(q.token(i))] = q.probabilities()[i];
  std::vector<double> slack;
  for (const Row& row : rows) slack.push_back(row.p);
  const auto give = [&](std::size_t r, std::size_t i, double mass) {
    const std::size_t y = static_cast<std::size_t>(rows[r].tokens[i]);
    mass = std::clamp(mass, 0.0, std::min(slack[r], left[y]));
    rows[r].weights[i] += mass;
    slack[r] -= mass;
    left[y] -= mass;
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].tokens.size(); ++i)
      give(r, i, std::exchange(rows[r].weights[i], 0.0));
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].tokens.size(); ++i) give(r, i, slack[r]);
    rows[r].weights.push_back(rows[r].p > 0.0 ? slack[r] : 1.0);
  }
  return left;
}

class TupleLp final : public TransportPlan {
 public:
  TupleLp(DraftDistributions p, const Distribution& q, Drafting drafting, Rows rows,
          std::optional<Distribution> residual, double acceptance)
      : p_(std::move(p)),
        q_(q),
        drafting_(drafting),
        rows_(std::move(rows)),
        residual_(std::move(residual)),
        acceptance_(acceptance) {}

  std::size_t drafts() const override { return p_.count(); }
  void draw(std::span<Token> out, Choices& choices) const override;
  Selection select(std::span<const Token> drafts, Choices& choices) const override;
  double acceptance() const override { return acceptance_; }
  std::optional<Distribution> residual() const override { return residual_; }
  Distribution conditional(std::span<const Token> drafts) const override;

 private:
  const Row& row(std::span<const Token> drafts) const;
  const Distribution& rejected() const { return residual_ ? *residual_ : q_; }

  DraftDistributions p_;
  const Distribution& q_;
  Drafting drafting_;
  Rows rows_;
  std::optional<Distribution> residual_;
  double acceptance_;
};

std::size_t entry_of(const Distribution& distribution, Token token) {
  const std::optional<std::size_t> entry = distribution.find(token);
  SPECTR_CHECK(entry && distribution.probabilities()[*entry] > 0.0);
  return *entry;
}

void TupleLp::draw(std::span<Token> out, Choices& choices) const {
  SPECTR_CHECK(out.size() == drafts());
  if (drafting_ == Drafting::without_replacement) {
    std::ranges::copy(draw_without_replacement(p_[0], drafts(), choices), out.begin());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = p_[i].draw(choices);
}

const Row& TupleLp::row(std::span<const Token> drafts) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  std::size_t tuple = 0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    tuple = tuple * p_[i].size() + entry_of(p_[i], drafts[i]);
  }
  return rows_.rows[rows_.of[tuple]];
}

Selection TupleLp::select(std::span<const Token> drafts, Choices& choices) const {
  const Row& row = this->row(drafts);
  const std::size_t y = choices.draw(row.weights);
  if (y < row.tokens.size()) return {row.tokens[y], true};
  return {rejected().draw(choices), false};
}

Distribution TupleLp::conditional(std::span<const Token> drafts) const {
  const Row& row = this->row(drafts);
  double total = 0.0;
  for (double w : row.weights) total += w;
  std::vector<double> distribution(q_.vocabulary(), 0.0);
  for (std::size_t i = 0; i < row.tokens.size(); ++i) {
    distribution[static_cast<std::size_t>(row.tokens[i])] += row.weights[i] / total;
  }
  const Distribution& last = rejected();
  for (std::size_t i = 0; i < last.size(); ++i) {
    distribution[static_cast<std::size_t>(last.token(i))] +=
        row.weights.back() / total * last.probabilities()[i];
  }
  return Distribution::from_weights(std::move(distribution));
}

Result<std::unique_ptr<TransportPlan>> build(std::string_view name, DraftDistributions p,
                                             const Distribution& q, Drafting drafting) {
  for (std::size_t i = 0; i < p.count(); ++i) SPECTR_CHECK(p[i].vocabulary() == q.vocabulary());
  if (p.tuples() > max_tuples) {
    return error("{}: k = {} drafts make more than {:.0f} tuples, the most that its linear program takes",
                 name, p.count(), max_tuples);
  }
  Rows rows = rows_of(p, drafting);
  if (auto solved = solve(rows.rows, q); !solved) return error("{}: {}", name, solved.error().message);
  std::vector<double> left = repair(rows.rows, q);
  Sum slacks;
  for (const Row& row : rows.rows) slacks.add(std::min(row.p, row.weights.back()));
  const double rejected = std::min(1.0, slacks.value());
  std::optional<Distribution> residual;
  if (rejected >= rounding_of_rejection && std::ranges::any_of(left, [](double w) { return w > 0.0; })) {
    residual = Distribution::from_weights(std::move(left));
  }
  const double acceptance = residual ? 1.0 - rejected : 1.0;
  return std::make_unique<TupleLp>(std::move(p), q, drafting, std::move(rows), std::move(residual),
                                   acceptance);
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_tuple_lp(const DraftDistributions& p, const Distribution& q,
                                                      const PlanOptions&) {
  return build("otm-lp", p, q, Drafting::independent);
}

Result<std::unique_ptr<TransportPlan>> build_tuple_lp_without_replacement(const DraftDistributions& p,
                                                                          const Distribution& q,
                                                                          const PlanOptions&) {
  if (!p.equal()) return error("optimal-wor: all {} drafts must come from one law", p.count());
  const auto support = std::ranges::count_if(p[0].probabilities(), [](double mass) { return mass > 0.0; });
  const std::size_t drafts = std::min(p.count(), static_cast<std::size_t>(support));
  return build("optimal-wor", DraftDistributions(p[0], drafts), q, Drafting::without_replacement);
}

}  // namespace spectr
