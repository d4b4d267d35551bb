#include "tests/support/tabular_pair.h"

#include <cmath>
#include <memory>
#include <string>

#include "tests/support/value_of.h"

namespace spectr::test {
namespace {

std::vector<double> sparse_rows(std::size_t vocabulary, std::size_t steps, std::mt19937& generator) {
  std::vector<double> rows(steps * vocabulary * vocabulary, 0.0);
  for (std::size_t begin = 0; begin < rows.size(); begin += vocabulary) {
    const std::span row = std::span(rows).subspan(begin, vocabulary);
    double total = 0.0;
    for (double& p : row) total += p = uniform53(generator) < 0.4 ? 0.0 : uniform53(generator);
    if (total == 0.0) total = row[generator() % vocabulary] = 1.0;
    for (double& p : row) p /= total;
  }
  return rows;
}

}  // namespace

TabularPair TabularPair::random(std::size_t vocabulary, std::size_t steps, std::uint32_t seed,
                                std::size_t drafts) {
  std::mt19937 generator(seed);
  std::vector<TabularModel> tables;
  for (std::size_t i = 0; i < drafts; ++i)
    tables.push_back(TabularModel::random(vocabulary, steps, generator));
  return {std::move(tables), TabularModel::random(vocabulary, steps, generator)};
}

TabularPair TabularPair::sparse(std::size_t vocabulary, std::size_t steps, std::uint32_t seed,
                                std::size_t drafts) {
  std::mt19937 generator(seed);
  const auto table = [&] {
    return TabularModel(vocabulary, steps, sparse_rows(vocabulary, steps, generator));
  };
  std::vector<TabularModel> tables;
  for (std::size_t i = 0; i < drafts; ++i) tables.push_back(table());
  return {std::move(tables), table()};
}

TabularPair TabularPair::constant(std::span<const double> p, std::span<const double> q, std::size_t drafts) {
  const auto table = [](std::span<const double> row) {
    std::vector<double> rows;
    for (std::size_t i = 0; i < row.size(); ++i) rows.insert(rows.end(), row.begin(), row.end());
    return TabularModel(row.size(), 1, rows);
  };
  return {std::vector<TabularModel>(drafts, table(p)), table(q)};
}

OwnedModels TabularPair::models(std::string_view method, const Decoder& decoder, const WarpOptions& warp,
                                std::size_t tokens, std::shared_ptr<const LogitRule> rule) const {
  std::vector<const LanguageModel*> drafting;
  const std::size_t max = value_of(find_method(method))->models.max;
  for (const TabularModel& draft : std::span(drafts).first(std::min(max, drafts.size())))
    drafting.push_back(&draft);
  return value_of(OwnedModels::start(target, drafting, value_of(Warp::make(warp, std::move(rule))), 0,
                                     decoder.max_nodes(tokens)));
}

MethodDistribution method_distribution(const TabularPair& pair, std::string_view method,
                                       const MethodOptions& options, const EnumerationSettings& settings) {
  Decoder decoder = decoder_of(method, options);
  OwnedModels models = pair.models(method, decoder, settings.warp, settings.horizon, settings.rule);
  const EnumerationOptions enumeration{.horizon = settings.horizon, .ends = settings.ends};
  const Token prompt[] = {settings.start};
  DecoderDistribution exact = value_of(enumerate_decoder(decoder, models, prompt, enumeration));
  const auto target = value_of(enumerate_target(models, prompt, enumeration));
  const double tv = total_variation(exact.distribution, target);
  return {tv, std::move(exact)};
}

Decoder decoder_of(std::string_view method, const MethodOptions& options) {
  return value_of(make_decoder(*value_of(find_method(method)), options));
}

MethodOptions options_of(std::size_t drafts, std::size_t length, std::string_view plan) {
  MethodOptions options;
  options.drafts = drafts;
  options.length = length;
  if (!plan.empty()) options.plan = std::string(plan);
  options.costs = costs_of(1);
  return options;
}

std::shared_ptr<const Costs> costs_of(std::size_t draft_models) {
  return measured(0.2, std::vector(draft_models, 0.1)).costs;
}

MethodOptions measured(double slope, const std::vector<double>& drafts) {
  const auto curve = [slope](double share) { return CostCurve({{1, share}, {2, share * (1.0 + slope)}}); };
  Costs costs{curve(1.0), {}, {}};
  for (double draft : drafts) costs.drafts.push_back({curve(draft)});
  MethodOptions options;
  options.costs = std::make_shared<Costs>(std::move(costs));
  return options;
}

double seconds_by(const Costs& costs, std::optional<std::size_t> model, std::size_t nodes,
                  std::size_t depth) {
  double seconds = costs.target.seconds(1.0 + static_cast<double>(nodes));
  if (model && depth > 0) {
    const CostCurve& passes = costs.drafts[*model].passes;
    const double level = static_cast<double>(nodes) / static_cast<double>(depth);
    seconds += passes.seconds(2.0) + static_cast<double>(depth - 1) * passes.seconds(level);
  }
  return seconds;
}

double Shape::tuples() const {
  return std::pow(static_cast<double>(vocabulary), static_cast<double>(drafts * length));
}

std::vector<Shape> shapes(double more_than, double max, std::size_t max_drafts) {
  std::vector<Shape> all;
  for (std::size_t v = 2; v <= 4; ++v) {
    for (std::size_t k = 1; k <= max_drafts; ++k) {
      for (std::size_t l = 1; l <= 3; ++l) {
        const Shape shape{v, k, l};
        if (shape.tuples() > more_than && shape.tuples() <= max) all.push_back(shape);
      }
    }
  }
  return all;
}

}  // namespace spectr::test
