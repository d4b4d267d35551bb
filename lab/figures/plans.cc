// Acceptance of each plan on three kinds of distributions: uniform random, peaked as in language, and real
// ones.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lab/distributions.h"
#include "lab/figures/drawn_plans.h"
#include "lab/figures/figures.h"
#include "lab/story_models.h"
#include "spectr/sampling/warp.h"

namespace spectr::lab {
namespace {

constexpr DrawnPlan plans[] = {drawn_optimal, drawn_str_plus_plus, drawn_str_plus,
                               drawn_k_seq,   drawn_recursive,     drawn_recursive_wor};
constexpr std::size_t drafts[] = {1, 2, 3, 4, 6, 8};
constexpr std::size_t table_drafts = 4;

struct DistributionsOfPair {
  Distribution p, q;
};

/// Returns pairs of independent uniform random numbers, normalised.
std::vector<DistributionsOfPair> even_distributions(std::size_t pairs, std::mt19937& generator) {
  std::vector<DistributionsOfPair> distributions;
  for (std::size_t i = 0; i < pairs; ++i) {
    Distribution p = random_distribution(8, generator);
    distributions.push_back({std::move(p), random_distribution(8, generator)});
  }
  return distributions;
}

/// Returns softmaxes of normal logits (deviation 3) on 40 tokens; the draft's have an error of deviation 1.
std::vector<DistributionsOfPair> peaked_distributions(std::size_t pairs, std::mt19937& generator) {
  const auto normal = [&generator] {
    constexpr double tau = 6.283185307179586;
    const double u = 1.0 - uniform53(generator), v = uniform53(generator);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(tau * v);
  };
  std::vector<DistributionsOfPair> distributions;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::vector<double> p(40), q(40);
    for (std::size_t x = 0; x < q.size(); ++x) {
      const double logit = 3.0 * normal();
      q[x] = std::exp(logit);
      p[x] = std::exp(logit + normal());
    }
    distributions.push_back({Distribution::from_weights(p), Distribution::from_weights(q)});
  }
  return distributions;
}

/// Returns the model pair's distributions after story prompts: temperature 1, top-k 40.
Result<std::vector<DistributionsOfPair>> real_distributions(std::size_t pairs, const Context& context) {
  SPECTR_TRY(const StoryModels models, load_stories(context));
  WarpOptions options = WarpOptions::none();
  options.top_k = 40;
  SPECTR_TRY(const Warp warp, Warp::make(options));
  const std::size_t vocabulary = models.target().vocabulary();
  const auto distribution_of = [&](const Transformer& model,
                                   std::span<const Token> text) -> Result<Distribution> {
    SPECTR_TRY(const auto session, model.start(text.size(), 1));
    SPECTR_TRY_VOID(session->score(text, TokenTree(text.back())));
    const Logits row = session->logits(TokenTree::root);
    return warp.distribution(row.first(std::min(row.size(), vocabulary)), text, vocabulary);
  };
  std::vector<DistributionsOfPair> distributions;
  const std::vector<std::string>& stories = context.stories.prompts;
  for (std::size_t i = 0; i < std::min(pairs, stories.size()); ++i) {
    const std::vector<Token> text = models.tokenizer().encode(stories[i]);
    SPECTR_TRY(Distribution p, distribution_of(models.draft(), text));
    SPECTR_TRY(Distribution q, distribution_of(models.target(), text));
    distributions.push_back({std::move(p), std::move(q)});
  }
  return distributions;
}

/// Returns the mean acceptance of a plan over the pairs; nullopt if it cannot be computed exactly.
Result<std::optional<double>> mean_acceptance(const char* plan,
                                              const std::vector<DistributionsOfPair>& distributions,
                                              std::size_t k) {
  double sum = 0.0;
  for (const DistributionsOfPair& pair : distributions) {
    SPECTR_TRY(const double accepted, acceptance(plan, pair.p, pair.q, k));
    sum += accepted;
  }
  if (std::isnan(sum)) return std::optional<double>();
  return std::optional(sum / static_cast<double>(distributions.size()));
}

}  // namespace

Result<Report> plan_acceptance(const Context& context) {
  const std::size_t pairs = context.runs_or(50, 5);
  std::mt19937 generator(context.seed);
  struct Kind {
    const char* name;
    const char* title;
    std::vector<DistributionsOfPair> distributions;
  };
  SPECTR_TRY(std::vector<DistributionsOfPair> real, real_distributions(pairs, context));
  const Kind kinds[] = {{"even", "uniform random, 8 tokens", even_distributions(pairs, generator)},
                        {"peaked", "peaked, 40 tokens", peaked_distributions(pairs, generator)},
                        {"real", "a pair of models, top-k 40", std::move(real)}};

  DataTable data({"laws", "plan", "k", "acceptance"});
  std::size_t done = 0;
  for (const Kind& kind : kinds) {
    for (const DrawnPlan& plan : plans) {
      for (const std::size_t k : drafts) {
        // Exact acceptance without replacement is exponential in k; larger k are omitted.
        const bool feasible = std::string_view(plan.name) != "recursive-wor" ||
                              kind.distributions[0].p.vocabulary() <= 8 || k <= 3;
        SPECTR_TRY(const auto accepted, feasible ? mean_acceptance(plan.name, kind.distributions, k)
                                                 : Result<std::optional<double>>(std::nullopt));
        if (accepted) data.add({kind.name, plan.name, static_cast<double>(k), *accepted});
        context.progress(++done, std::size(kinds) * std::size(plans) * std::size(drafts));
      }
    }
  }

  Figure figure{"Acceptance of the plans for k drafts", {}};
  std::vector<Line> summary;
  for (const Kind& kind : kinds) {
    Panel panel{
        kind.title, {.label = "number of drafts k"}, {.label = "acceptance", .from = 0.4, .to = 1.0}, {}};
    for (const DrawnPlan& plan : plans) {
      const auto rows = data.where({{"laws", kind.name}, {"plan", plan.name}});
      panel.series.push_back({plan.title, Style::joined, plan.colour, points(data, rows, "k", "acceptance")});
      for (const std::size_t row :
           data.where({{"laws", kind.name}, {"plan", plan.name}, {"k", double{table_drafts}}})) {
        summary.push_back({fmt::format("{}, k = {}, {}", kind.title, table_drafts, plan.title),
                           fmt::format("{:.4f}", data.number(row, "acceptance"))});
      }
    }
    figure.panels.push_back(std::move(panel));
  }
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
