// Counterexamples to claims about verification: HSD's program, GBV with more sequences, HedgeSpec's estimate.

#include "lab/theory/verification_counterexamples.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/figures/figures.h"
#include "lab/theory/verification_bound.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {
namespace {

constexpr std::size_t length = 2;      // L of HSD's and HedgeSpec's chains
constexpr std::size_t max_drafts = 8;  // K of GBV

using Texts = std::map<std::vector<Token>, double>;

struct Found {
  double tokens;        // of the first block of an endless sequence
  Texts texts, target;  // of L tokens
};

Result<Found> enumerate(Decoder decoder, const PrefixPair& pair, std::size_t L) {
  const LanguageModel* const draft = &pair.p;
  SPECTR_TRY(const Warp warp, Warp::make(WarpOptions::none()));
  SPECTR_TRY(OwnedModels models,
             OwnedModels::start(pair.q, std::span(&draft, 1), warp, 0, decoder.max_nodes(L + 1)));
  const Token start[] = {0};
  const EnumerationOptions block{.horizon = L + 1, .markov = false}, whole{.horizon = L, .markov = false};
  SPECTR_TRY(const double tokens, expected_block_tokens(decoder, models, start, block));
  SPECTR_TRY(DecoderDistribution found, enumerate_decoder(decoder, models, start, whole));
  SPECTR_TRY(Texts target, enumerate_target(models, start, whole));
  return Found{tokens, std::move(found.distribution), std::move(target)};
}

Result<Found> enumerate(std::string_view method, const PrefixPair& pair, std::size_t K, std::size_t L) {
  MethodOptions options;
  options.drafts = K;
  options.length = L;
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
  return enumerate(std::move(decoder), pair, L);
}

Result<void> add_hsd(DataTable& data, std::vector<Line>& summary) {
  const PrefixPair pair = hsd_pair();
  SPECTR_TRY(const Found program, enumerate(hsd_program(length), pair, length));
  SPECTR_TRY(const Found block, enumerate("block", pair, 1, length));
  SPECTR_TRY(const double bound, verification_bound(pair.p, pair.q, 1, length));
  const auto add = [&](const char* method, std::string quantity, double value, double correct) {
    data.add({"HSD", method, 1.0, std::move(quantity), value, correct});
  };
  const double tv = total_variation(program.texts, program.target);
  add("HSD's program", "tokens", program.tokens, bound);
  add("block", "tokens", block.tokens, bound);
  for (const auto& [text, q] : program.target) {
    const auto at = program.texts.find(text);
    add("HSD's program", fmt::format("P({}{})", text[0], text[1]),
        at == program.texts.end() ? 0.0 : at->second, q);
  }
  add("HSD's program", "tv", tv, 0.0);
  add("block", "tv", total_variation(block.texts, block.target), 0.0);
  const auto first_two = [](const Texts& texts) {
    return fmt::format("{:.2f}, {:.2f}", texts.at({0, 0}), texts.at({0, 1}));
  };
  summary.push_back(
      {"HSD's program: P(00), P(01)", first_two(program.texts), first_two(program.target) + " (lossless)"});
  summary.push_back({"… total variation from the target", fmt::format("{:.2f}", tv), "0"});
  summary.push_back({"… tokens of a block; block verification; bound of one sequence",
                     fmt::format("{:.2f}; {:.2f}; {:.2f}", program.tokens, block.tokens, bound),
                     "more than block verification"});
  return {};
}

Result<void> add_gbv(DataTable& data, std::vector<Line>& summary) {
  const PrefixTableModel coin(2, {{{}, {0.5, 0.5}}});
  const PrefixPair pair{coin, coin};
  std::string tokens;
  for (std::size_t K = 1; K <= max_drafts; ++K) {
    for (const std::string method : {"gbv", "conditional"}) {
      SPECTR_TRY(const Found found, enumerate(method, pair, K, 1));
      // p′ is 2^−K and 1 − 2^−K, so its overlap with q is ½ + 2^−K.
      const double closed = method == "gbv" ? 1.5 + std::exp2(-static_cast<double>(K)) : 2.0;
      data.add({"GBV", method, static_cast<double>(K), "tokens", found.tokens, closed});
      if (method == "gbv" && K <= 4) tokens += fmt::format("{}{:.6g}", K > 1 ? ", " : "", found.tokens);
    }
  }
  summary.push_back(
      {"GBV, p = q = (½, ½), L = 1: tokens with K = 1 … 4", tokens, "more with more sequences"});
  return {};
}

Result<void> add_hedge(DataTable& data, std::vector<Line>& summary) {
  const ExactPair pair = hedge_pair();
  const LengthEstimates exact = length_estimates(pair.p, pair.q, length);
  SPECTR_TRY(const Found found, enumerate("speculative", models_of(pair), 1, length));
  const auto add = [&](const char* quantity, double value) {
    data.add({"HedgeSpec", "speculative", 1.0, quantity, value, exact.expected.value()});
  };
  add("tokens", found.tokens);
  add("1 + Σ Π overlaps", exact.overlaps.value());
  add("1 + Σ Π min(1, p/q) · overlap", exact.last_overlap_only.value());
  summary.push_back({"tokens of a block of speculative decoding, L = 2", exact.expected.text()});
  summary.push_back({"… mean of HedgeSpec's 1 + Σ Π (1 − TV)", exact.overlaps.text(),
                     exact.expected.text() + " (unbiased)"});
  summary.push_back({"… mean where the last factor alone is averaged", exact.last_overlap_only.text()});
  return {};
}

Figure figure_of(const DataTable& data) {
  Panel panel{"p = q = (½, ½), L = 1",
              {.label = "draft sequences K", .from = 0.5, .to = static_cast<double>(max_drafts) + 0.5},
              {.label = "tokens of a block", .from = 1.4, .to = 2.1},
              {},
              "bottom left"};
  std::size_t colour = 0;
  for (const std::string method : {"gbv", "conditional"}) {
    panel.series.push_back(
        {method, Style::joined, colour++,
         points(data, data.where({{"claim", "GBV"}, {"method", method}}), "drafts", "value")});
  }
  return {"More sequences that accept less", {std::move(panel)}};
}

}  // namespace

Result<Report> verification_counterexamples(const Context&) {
  DataTable data({"claim", "method", "drafts", "quantity", "value", "correct"});
  std::vector<Line> summary;
  SPECTR_TRY_VOID(add_hsd(data, summary));
  SPECTR_TRY_VOID(add_gbv(data, summary));
  SPECTR_TRY_VOID(add_hedge(data, summary));
  Figure figure = figure_of(data);
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
