// Lossless methods compared with each other and with the linear program that bounds them, by enumeration.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/figures/figures.h"
#include "lab/theory/verification_bound.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"
#include "spectr/lm/prefix_table_model.h"
#include "spectr/lm/tabular_model.h"

namespace spectr::lab {
namespace {

struct Pair {
  PrefixTableModel p, q;
};

/// A way of generating the rows of a pair.
struct Kind {
  std::string_view name;
  double power;                       // exponent of uniform random weights
  double (*distance)(std::size_t i);  // between rows of q and p after i tokens; 1: independent
  bool is_markov = false;             // rows by the last token
};

constexpr Kind kinds[] = {
    {"far", 1.0, [](std::size_t) { return 1.0; }},
    {"near", 1.0, [](std::size_t) { return 0.3; }},
    {"drifting", 1.0, [](std::size_t i) { return std::min(1.0, 0.2 + 0.4 * static_cast<double>(i)); }},
    {"Markov", 1.0, [](std::size_t) { return 1.0; }, true},
    {"peaked", 4.0, [](std::size_t) { return 1.0; }},
};

struct Size {
  std::size_t vocabulary, length;
};
constexpr Size sizes[] = {{2, 2}, {2, 3}, {3, 2}, {4, 2}};

std::vector<double> random_row(std::size_t vocabulary, double power, std::mt19937& generator) {
  std::vector<double> row(vocabulary);
  double total = 0.0;
  for (double& x : row) total += x = std::pow(uniform53(generator), power);
  for (double& x : row) x /= total;
  return row;
}

/// Returns rows for every prefix of fewer than `length` tokens, or of one token for a Markov pair.
Pair random_pair(const Kind& kind, const Size& size, std::mt19937& generator) {
  PrefixTableModel::Rows p, q;
  std::vector<std::vector<Token>> prefixes = {{}};
  const std::size_t longest = kind.is_markov ? 1 : size.length;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    const std::vector<Token> prefix = prefixes[i];
    const std::vector<double> draft = random_row(size.vocabulary, kind.power, generator),
                              other = random_row(size.vocabulary, kind.power, generator);
    const double distance = kind.distance(prefix.size());
    std::vector<double> target(size.vocabulary);
    for (std::size_t x = 0; x < size.vocabulary; ++x)
      target[x] = (1.0 - distance) * draft[x] + distance * other[x];
    p[prefix] = draft;
    q[prefix] = target;
    for (std::size_t x = 0; x < size.vocabulary && prefix.size() < longest; ++x) {
      prefixes.push_back(prefix);
      prefixes.back().push_back(static_cast<Token>(x));
    }
  }
  return {{size.vocabulary, p}, {size.vocabulary, q}};
}

/// A method with its settings and its name in the table.
struct Compared {
  std::string_view title, method, plan = {};
  bool is_chain = false, look = false;
  std::size_t trunk = 0;
  bool is_bounded = true;  // the program's bound holds only for independent drafts
};
constexpr Compared compared[] = {
    {.title = "maximal coupling, 1 sequence", .method = "speculative", .is_chain = true},
    {.title = "block, 1 sequence", .method = "block", .is_chain = true},
    {.title = "k-Seq walk", .method = "spectr", .plan = "k-seq"},
    {.title = "recursive walk", .method = "spectr", .plan = "recursive"},
    {.title = "optimal walk", .method = "spectr", .plan = "optimal"},
    {.title = "traversal", .method = "traversal"},
    {.title = "gbv", .method = "gbv"},
    {.title = "conditional", .method = "conditional"},
    {.title = "conditional, look", .method = "conditional", .look = true},
    {.title = "optimal walk, trunk 1", .method = "spectr", .plan = "optimal", .trunk = 1},
    {.title = "conditional, trunk 1", .method = "conditional", .trunk = 1},
    {.title = "recursive-wor walk", .method = "spectr", .plan = "recursive-wor", .is_bounded = false},
    {.title = "univer", .method = "univer", .is_bounded = false},
};

struct Found {
  double tokens, tv;
};

Result<Found> enumerate(const Compared& what, const Pair& pair, std::size_t drafts, std::size_t length) {
  MethodOptions options;
  options.drafts = what.is_chain ? 1 : drafts;
  options.length = length;
  options.look = what.look;
  options.trunk = what.trunk;
  if (!what.plan.empty()) options.plan = what.plan;
  SPECTR_TRY(const MethodRule* rule, find_method(what.method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
  const LanguageModel* const draft = &pair.p;
  SPECTR_TRY(const Warp warp, Warp::make(WarpOptions::none()));
  SPECTR_TRY(OwnedModels models,
             OwnedModels::start(pair.q, std::span(&draft, 1), warp, 0, decoder.max_nodes(length + 1)));
  const Token start[] = {0};
  const EnumerationOptions whole{.horizon = length + 1, .markov = false};
  SPECTR_TRY(const double tokens, expected_block_tokens(decoder, models, start, whole));
  SPECTR_TRY(const DecoderDistribution found, enumerate_decoder(decoder, models, start, whole));
  SPECTR_TRY(const auto target, enumerate_target(models, start, whole));
  return Found{tokens, total_variation(found.distribution, target)};
}

/// Means over pairs: tokens per block, and the share of the bound's accepted tokens.
struct Mean {
  double tokens = 0.0, share = 0.0;
};

Mean mean_of(const DataTable& data, std::span<const std::size_t> rows) {
  Mean mean;
  for (const std::size_t row : rows) {
    const double tokens = data.number(row, "tokens");
    mean.tokens += tokens / static_cast<double>(rows.size());
    mean.share += (tokens - 1.0) / (data.number(row, "bound") - 1.0) / static_cast<double>(rows.size());
  }
  return mean;
}

/// Returns the number of pairs, for any K, on which `conditional` accepts less than another method, and the
/// largest loss.
std::string losses(const DataTable& data, std::string_view other) {
  const auto rows = [&](std::string_view method) { return data.where({{"method", std::string(method)}}); };
  const auto ours = rows("conditional"), theirs = rows(other);  // in the same order
  std::size_t count = 0;
  double largest = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double loss = data.number(theirs[i], "tokens") - data.number(ours[i], "tokens");
    constexpr double rounding = 1e-12;
    count += loss > rounding ? 1 : 0;
    largest = std::max(largest, loss);
  }
  return fmt::format("{} of {}{}", count, ours.size(),
                     count > 0 ? fmt::format(", by up to {:.4f}", largest) : "");
}

Figure figure_of(const DataTable& data) {
  Panel panel{"K = 2",
              {.label = "pairs: 1 far, 2 near, 3 drifting, 4 Markov, 5 peaked", .from = 0.5, .to = 5.5},
              {.label = "share of the bound's accepted tokens", .from = 0.4, .to = 1.0},
              {},
              "bottom left"};
  std::size_t colour = 0;
  for (const std::string_view title : {"block, 1 sequence", "k-Seq walk", "optimal walk", "traversal", "gbv",
                                       "conditional", "conditional, look"}) {
    std::vector<Point> shares;
    for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
      const auto rows = data.where(
          {{"drafts", 2.0}, {"method", std::string(title)}, {"kind", std::string(kinds[kind].name)}});
      const double share = mean_of(data, rows).share;
      shares.push_back({static_cast<double>(kind + 1), share, share, share});
    }
    panel.series.push_back({std::string(title), Style::joined, colour++, std::move(shares)});
  }
  return {"Lossless verification of several drafts", {std::move(panel)}};
}

}  // namespace

Result<Report> verification(const Context& context) {
  const std::size_t repeats = context.runs_or(2, 1);
  const std::vector<std::size_t> all_drafts =
      context.quick ? std::vector<std::size_t>{2} : std::vector<std::size_t>{2, 3};
  const std::span<const Size> all_sizes = std::span(sizes).first(context.quick ? 2 : std::size(sizes));
  DataTable data({"kind", "vocabulary", "length", "pair", "drafts", "method", "tokens", "bound", "tv"});
  std::mt19937 generator(context.seed);
  const std::size_t total = std::size(kinds) * all_sizes.size() * repeats * all_drafts.size();
  std::size_t done = 0;
  for (const Kind& kind : kinds) {
    for (const Size& size : all_sizes) {
      for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
        const Pair pair = random_pair(kind, size, generator);
        for (const std::size_t drafts : all_drafts) {
          SPECTR_TRY(const double bound, verification_bound(pair.p, pair.q, drafts, size.length));
          for (const Compared& what : compared) {
            SPECTR_TRY(const Found found, enumerate(what, pair, drafts, size.length));
            data.add({std::string(kind.name), static_cast<double>(size.vocabulary),
                      static_cast<double>(size.length), static_cast<double>(repeat),
                      static_cast<double>(drafts), std::string(what.title), found.tokens, bound, found.tv});
          }
          context.progress(++done, total);
        }
      }
    }
  }

  std::vector<Line> summary;
  for (const Compared& what : compared) {
    std::string line;
    double worst = 0.0;
    for (const std::size_t drafts : all_drafts) {
      const auto rows =
          data.where({{"drafts", static_cast<double>(drafts)}, {"method", std::string(what.title)}});
      const Mean mean = mean_of(data, rows);
      for (const std::size_t row : rows) worst = std::max(worst, data.number(row, "tv"));
      line += fmt::format("{}K = {}: {:.4f}", line.empty() ? "" : "; ", drafts, mean.tokens);
      if (what.is_bounded) line += fmt::format(" ({:.1f} %)", 100.0 * mean.share);
    }
    constexpr double rounding = 1e-12;
    summary.push_back(
        {std::string(what.title),
         fmt::format("{}; tv {}", line, worst <= rounding ? "≤ 1e-12" : fmt::format("{:.1e}", worst))});
  }
  for (const std::string_view other : {"block, 1 sequence", "optimal walk", "traversal", "gbv"}) {
    summary.push_back(
        {fmt::format("cases in which conditional accepts less than: {}", other), losses(data, other)});
  }
  Figure figure = figure_of(data);
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
