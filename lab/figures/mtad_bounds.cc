// MTAD, lemmas 3.4 and A.1 and theorems 3.5 and 3.6: measured perplexities and lengths against their bounds.
// Lemma 3.4 does not hold for the error of whole drafts, and theorem 3.5 only for joint decoding after MTAD's
// contexts.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/figures/figures.h"
#include "lab/theory/assisted_decoding.h"
#include "lab/theory/beam_drafts.h"
#include "lab/theory/joint_decoding.h"

namespace spectr::lab {
namespace {

constexpr std::size_t states = 8, length = 4;
constexpr double noise = 0.6;
constexpr double taus[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95};

/// Returns ln PPL_q of exact greedy MTJD with blocks of `block` tokens, from a uniformly drawn start.
double joint_log_perplexity(const MarkovPair& pair, std::size_t block) {
  double sum = 0.0;
  for (std::size_t x = 0; x < pair.states(); ++x) sum += joint_decoding_cost(pair, x, block).back();
  return sum / static_cast<double>(pair.states() * pair.horizon());
}

Panel panel(const DataTable& data, std::string title, const char* measured, const char* bound,
            std::string bound_title, Axis y, std::string legend) {
  const auto rows = data.where({{"beams", 8.0}});
  return {std::move(title),
          {.label = "threshold τ", .from = 0.0008, .to = 1.2, .logarithmic = true},
          std::move(y),
          {{"measured", Style::joined, 0, points(data, rows, "tau", measured)},
           {std::move(bound_title), Style::dashes, 1, points(data, rows, "tau", bound)}},
          std::move(legend)};
}

/// Returns a panel of lemma 3.4, measured perplexity divided by the bound: values above 1 violate it.
Panel lemma_panel(const DataTable& data) {
  const auto rows = data.where({{"beams", 8.0}});
  const auto quotient = [&](const char* bound) {
    std::vector<Point> all = points(data, rows, "tau", "ppl_p");
    for (std::size_t i = 0; i < rows.size(); ++i) all[i].y /= data.number(rows[i], bound);
    return all;
  };
  return {"Lemma 3.4: violated above 1",
          {.label = "threshold τ", .from = 0.0008, .to = 1.2, .logarithmic = true},
          {.label = "PPL_p of the text / bound"},
          {{"ε of the mean draft", Style::joined, 0, quotient("ppl_p_bound")},
           {"ε of the worst draft", Style::joined, 1, quotient("ppl_p_bound_worst")},
           {"", Style::dashes, 7, {{0.0008, 1.0, 1.0, 1.0}, {1.2, 1.0, 1.0, 1.0}}}},
          "top left"};
}

}  // namespace

Result<Report> mtad_bounds(const Context& context) {
  const MarkovPair pair = MarkovPair::alike(states, context.quick ? 24 : 120, noise, context.seed);
  const double U = largest_log_ratio(pair), H = entropy_per_token(pair);
  DataTable data({"beams", "tau", "tokens_per_call", "tokens_per_full_block", "tokens_per_full_block_bound",
                  "beam_error", "ppl_p", "ppl_p_bound", "ratio_qp", "ratio_qp_bound", "ratio_mtjd",
                  "ratio_mtjd_bound", "sup_log_ratio", "worst_beam_error", "ppl_p_bound_worst", "ppl_q",
                  "ppl_joint", "ppl_q_bound"});
  std::size_t done = 0;
  double slack = 1e300;
  for (const std::size_t beams : {1, 8}) {
    SPECTR_TRY(const double worst, worst_beam_error(pair, beams, length));
    for (const double tau : taus) {
      SPECTR_TRY(const Assisted a, assisted_decoding(pair, {.tau = tau, .beams = beams, .length = length}));
      const double g = a.tokens_per_call, error = a.beam_error();
      const auto block = static_cast<std::size_t>(std::max(1.0, std::round(g)));
      const double to_p = a.log_perplexity_q - a.log_perplexity_p, to_p_bound = log_ratio_bound(tau, g);
      const double to_joint = a.log_perplexity_q - joint_log_perplexity(pair, block);
      const double to_joint_bound = log_loss_bound(tau, g, error, H, U);  // not a theorem
      const double q_bound = log_perplexity_bound(a, tau, U);
      const double g_bound = tokens_per_call_bound(tau, length, U);
      slack = std::min(
          {slack, to_p_bound - to_p, q_bound - a.log_perplexity_q, a.tokens_per_full_block - g_bound});
      data.add({static_cast<double>(beams), tau, g, a.tokens_per_full_block, g_bound, error,
                std::exp(a.log_perplexity_p), std::exp(log_perplexity_p_bound(a, error)), std::exp(to_p),
                std::exp(to_p_bound), std::exp(to_joint), std::exp(to_joint_bound), U, worst,
                std::exp(log_perplexity_p_bound(a, worst)), std::exp(a.log_perplexity_q),
                std::exp(a.joint_log_perplexity()), std::exp(q_bound)});
      context.progress(++done, 2 * std::size(taus));
    }
  }

  Figure figure{
      fmt::format("MTAD against its bounds: {} states, L = {}, 8 beams, U = {:.2f}", states, length, U), {}};
  figure.panels = {
      lemma_panel(data),
      panel(data, "Lemma A.1, against the draft's", "ratio_qp", "ratio_qp_bound", "τ^(−1/γ)",
            {.label = "PPL_q / PPL_p", .from = 0.8, .logarithmic = true}, "top right"),
      panel(data, "Theorem 3.5, after MTAD's contexts", "ppl_q", "ppl_q_bound", "bound",
            {.label = "PPL_q of the text", .from = 1.0, .to = 10000.0, .logarithmic = true}, "top right"),
      panel(data, "Theorem 3.6", "tokens_per_full_block", "tokens_per_full_block_bound",
            "min(L + 1, |ln τ|/U)", {.label = "tokens per block with room for L + 1", .from = 0.0, .to = 5.5},
            "bottom left")};
  std::vector<Line> summary = {{"U = sup |ln p − ln q|", fmt::format("{:.4f}", U)}};
  for (const double tau : {0.01, 0.1, 0.4}) {
    const std::size_t row = data.where({{"beams", 8.0}, {"tau", tau}}).front();
    summary.push_back({fmt::format("τ = {}: tokens per full block ≥ bound", tau),
                       fmt::format("{:.4f} ≥ {:.4f}", data.number(row, "tokens_per_full_block"),
                                   data.number(row, "tokens_per_full_block_bound"))});
    summary.push_back(
        {fmt::format("τ = {}: PPL_q/PPL_p ≤ bound", tau),
         fmt::format("{:.4f} ≤ {:.4f}", data.number(row, "ratio_qp"), data.number(row, "ratio_qp_bound"))});
    summary.push_back({fmt::format("τ = {}: PPL_q; joint after its contexts; bound", tau),
                       fmt::format("{:.4f}; {:.4f}; {:.4f}", data.number(row, "ppl_q"),
                                   data.number(row, "ppl_joint"), data.number(row, "ppl_q_bound"))});
    summary.push_back({fmt::format("τ = {}: PPL_q/PPL_q(MTJD); theorem 3.5's bound, false in general", tau),
                       fmt::format("{:.4f}; {:.4f}", data.number(row, "ratio_mtjd"),
                                   data.number(row, "ratio_mtjd_bound"))});
  }
  for (const double tau : {0.4, 0.6, 0.8, 0.95}) {
    const std::size_t row = data.where({{"beams", 8.0}, {"tau", tau}}).front();
    summary.push_back({fmt::format("τ = {}: PPL_p; lemma 3.4 with ε of the mean, of the worst draft", tau),
                       fmt::format("{:.4f}; {:.4f}, {:.4f}", data.number(row, "ppl_p"),
                                   data.number(row, "ppl_p_bound"), data.number(row, "ppl_p_bound_worst"))});
  }
  summary.push_back({"least slack of lemma A.1, theorem 3.5 after MTAD's contexts, theorem 3.6",
                     fmt::format("{:.4f}", slack), "≥ 0"});
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
