// MTAD, corollary 3.3 and theorem 3.5: chains for which they are false, and the bounds that hold there.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/figures/figures.h"
#include "lab/theory/assisted_decoding.h"
#include "lab/theory/best_cycle.h"
#include "lab/theory/joint_counterexamples.h"
#include "lab/theory/joint_decoding.h"

namespace spectr::lab {
namespace {

constexpr std::size_t text = 2000;  // tokens of the first chain
constexpr double mixings[] = {0.0, 1e-3};
constexpr std::size_t blocks[] = {1, 2, 4, 8, 16, 32, 64};
constexpr double tau = 0.5;  // of MTAD on the second chain

Cell finite(double value) {
  return std::isfinite(value) ? Cell(value) : Cell("");
}

/// Adds greedy decoding (blocks of one token) and MTJD on the luring chain. Corollary 3.3 claims that no
/// perplexity is above greedy decoding's.
void add_joint_decoding(DataTable& data, bool quick) {
  for (const double mixed : mixings) {
    const LuringChain chain(mixed);
    const MarkovPair pair = chain.pair(quick ? text / 10 : text);
    const BestCycle cycle = best_cycle(chain.rows(), LuringChain::states, LuringChain::start);
    const std::vector<double> greedy = joint_decoding_cost(pair, LuringChain::start, 1);
    for (const std::size_t block : blocks) {
      const std::vector<double> cost = joint_decoding_cost(pair, LuringChain::start, block);
      const double limit = chain.joint_limit(block);
      const double proven = -cycle.mean + cycle.return_cost() / static_cast<double>(block);
      for (const std::size_t tokens : {2, 20, 200, 2000}) {
        if (tokens > cost.size()) continue;
        const auto n = static_cast<double>(tokens);
        const double value = cost[tokens - 1] / n;
        data.add({"corollary 3.3", block == 1 ? "greedy" : "mtjd", static_cast<double>(block), mixed, n,
                  value, std::exp(value), std::exp(limit), std::exp(greedy[tokens - 1] / n),
                  finite(std::exp(proven))});
      }
    }
  }
}

/// Adds MTAD and MTJD on the leaving chain. Theorem 3.5, with its algebra corrected, claims that MTAD's
/// perplexity is at most MTJD's times its bound.
void add_assisted_decoding(DataTable& data, const LeavingChain& chain, std::size_t longest) {
  const double U = 0.0, error = 0.0, tokens_per_call = 2.0;
  for (std::size_t tokens = 20; tokens <= longest; tokens *= 10) {
    const LeavingChain::Costs c = chain.costs(tokens);
    const double claimed = c.joint + log_loss_bound(tau, tokens_per_call, error, c.entropy, U);
    const double proven = c.joint_contexts + (c.own_entropy - std::log(tau)) / tokens_per_call;
    const auto n = static_cast<double>(tokens);
    data.add({"theorem 3.5", "mtad", 2.0, 0.0, n, c.assisted, std::exp(c.assisted),
              static_cast<double>(chain.bad), std::exp(claimed), std::exp(proven)});
    data.add({"theorem 3.5", "mtjd", 2.0, 0.0, n, c.joint, std::exp(c.joint), 1.0 / chain.stay, "", ""});
  }
}

/// Returns the largest difference between the closed forms of a small chain and the decoder with enumerated
/// blocks.
Result<double> closed_forms_off() {
  const LeavingChain small{.stay = 0.9, .bad = 4};
  const std::size_t tokens = 12;
  const MarkovPair pair = small.pair(tokens);
  SPECTR_TRY(const Assisted a, assisted_decoding(pair, {.tau = tau, .beams = 5, .length = 1}));
  const LeavingChain::Costs c = small.costs(tokens);
  return std::max({std::abs(a.log_perplexity_q - c.assisted), std::abs(a.own_entropy - c.own_entropy),
                   std::abs(a.joint_log_perplexity() - c.joint_contexts),
                   std::abs(joint_decoding_cost(pair, 0, 2).back() / static_cast<double>(tokens) - c.joint),
                   std::abs(entropy_per_token(pair) - c.entropy)});
}

Figure figure_of(const DataTable& data) {
  Panel lured{"corollary 3.3: 13 states",
              {.label = "tokens γ of a joint block", .from = 0.9, .to = 80.0, .logarithmic = true},
              {.label = "perplexity as texts grow", .from = 1.0, .to = 14.0},
              {},
              "top right"};
  std::size_t colour = 0;
  for (const double mixed : mixings) {
    lured.series.push_back(
        {mixed == 0.0 ? "MTJD; greedy is γ = 1" : fmt::format("… {} of a row uniform", mixed), Style::joined,
         colour++,
         points(data, data.where({{"claim", "corollary 3.3"}, {"mixed", mixed}, {"tokens", 20.0}}), "block",
                "limit")});
  }
  Panel left{"theorem 3.5: 1,001 states",
             {.label = "tokens of the text", .from = 15.0, .to = 30000.0, .logarithmic = true},
             {.label = "perplexity", .from = 0.8, .to = 1e9, .logarithmic = true},
             {},
             "top left"};
  const auto mtad = data.where({{"claim", "theorem 3.5"}, {"decoder", "mtad"}});
  left.series = {
      {"MTAD", Style::joined, 0, points(data, mtad, "tokens", "perplexity")},
      {"MTJD", Style::joined, 1,
       points(data, data.where({{"claim", "theorem 3.5"}, {"decoder", "mtjd"}}), "tokens", "perplexity")},
      {"theorem 3.5's bound", Style::dashes, 7, points(data, mtad, "tokens", "claimed")},
      {"bound after MTAD's contexts", Style::dashes, 2, points(data, mtad, "tokens", "proven")}};
  return {"Two statements of MTAD that are false", {std::move(lured), std::move(left)}};
}

}  // namespace

Result<Report> mtad_counterexamples(const Context& context) {
  const LeavingChain chain;
  const std::size_t longest = context.quick ? 2000 : 20000;
  DataTable data({"claim", "decoder", "block", "mixed", "tokens", "log_perplexity", "perplexity", "limit",
                  "claimed", "proven"});
  add_joint_decoding(data, context.quick);
  add_assisted_decoding(data, chain, longest);

  std::vector<Line> summary;
  const double lured = context.quick ? 200.0 : 2000.0;
  for (const double mixed : mixings) {
    for (const double block : {1.0, 2.0, 16.0}) {
      const std::size_t row =
          data.where({{"claim", "corollary 3.3"}, {"block", block}, {"mixed", mixed}, {"tokens", lured}})
              .front();
      summary.push_back(
          {fmt::format("{} % uniform, {}: perplexity; its limit", 100.0 * mixed,
                       block == 1.0 ? "greedy" : fmt::format("MTJD, γ = {}", block)),
           fmt::format("{:.4f}; {:.4f}", data.number(row, "perplexity"), data.number(row, "limit")),
           block == 1.0 ? "-" : "below greedy's (corollary 3.3)"});
    }
  }
  const LeavingChain::Costs c = chain.costs(longest);
  const double claimed = log_loss_bound(tau, 2.0, 0.0, c.entropy, 0.0);
  summary.push_back(
      {"p = q, L = 1, τ = ½, T tokens: H(q) along the target's texts", fmt::format("{:.4f}", c.entropy)});
  summary.push_back({"… ln PPL(MTAD)/PPL(MTJD)", fmt::format("{:.4f}", c.assisted - c.joint),
                     fmt::format("≤ {:.4f} (theorem 3.5)", claimed)});
  summary.push_back(
      {"… ln PPL(MTAD) ≤ bound after its own contexts",
       fmt::format("{:.4f} ≤ {:.4f}", c.assisted, c.joint_contexts + (c.own_entropy - std::log(tau)) / 2.0)});
  SPECTR_TRY(const double off, closed_forms_off());
  summary.push_back({"largest |closed form − decoder enumerated|, 5 states", fmt::format("{:.1e}", off)});
  Figure figure = figure_of(data);
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
