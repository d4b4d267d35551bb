#include "apps/cli/commands/plan_input.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "apps/support/json_input.h"

namespace spectr::cli {
namespace {

constexpr std::size_t max_drafts = 4096;

Result<const JsonInput*> field(const JsonInput& line, std::string_view name) {
  const auto found = line.find(name);
  if (found == line.end()) return error("{} is missing", name);
  return &*found;
}

Result<Distribution> read_distribution(const JsonInput& value, const std::string& name) {
  if (!value.is_array()) return error("{} must be a list of numbers, got {}", name, shown(value));
  std::vector<double> probabilities;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_number()) return error("{}[{}] is not a number: {}", name, i, shown(value[i]));
    probabilities.push_back(value[i].get<double>());
  }
  return Distribution::dense(probabilities, name);
}

Result<std::size_t> read_count(const JsonInput& value) {
  const double k = value.is_number() ? value.get<double>() : 0.5;
  if (k != std::floor(k)) return error("k must be a whole number, got {}", shown(value));
  if (k < 1.0) return error("k must be at least 1, got {}", shown(value));
  if (k > max_drafts) return error("k must be at most {}, got {}", max_drafts, shown(value));
  return static_cast<std::size_t>(k);
}

Result<std::vector<Distribution>> read_draft_distributions(const JsonInput& value, std::size_t k) {
  std::vector<Distribution> distributions;
  if (!value.is_array() || value.empty() || !value[0].is_array()) {
    SPECTR_TRY(Distribution distribution, read_distribution(value, "p"));
    distributions.push_back(std::move(distribution));
    return distributions;
  }
  if (value.size() != k) return error("p holds {} laws and k is {}", value.size(), k);
  for (std::size_t i = 0; i < k; ++i) {
    SPECTR_TRY(Distribution distribution, read_distribution(value[i], "p[" + std::to_string(i) + "]"));
    distributions.push_back(std::move(distribution));
  }
  return distributions;
}

}  // namespace

DraftDistributions PlanProblem::drafts() const {
  const auto same = [this](const Distribution& distribution) {
    return std::ranges::equal(distribution.probabilities(), p[0].probabilities());
  };
  if (std::all_of(p.begin(), p.end(), same)) return {p[0], k};
  std::vector<const Distribution*> distributions;
  for (const Distribution& distribution : p) distributions.push_back(&distribution);
  return DraftDistributions(distributions);
}

Result<PlanProblem> read_problem(const JsonInput& line) {
  if (!line.is_object()) return error("the line is not a JSON object");
  SPECTR_TRY(const JsonInput* p, field(line, "p"));
  SPECTR_TRY(const JsonInput* q, field(line, "q"));
  SPECTR_TRY(const JsonInput* count, field(line, "k"));
  SPECTR_TRY(const std::size_t k, read_count(*count));
  SPECTR_TRY(std::vector<Distribution> distributions, read_draft_distributions(*p, k));
  SPECTR_TRY(Distribution target, read_distribution(*q, "q"));
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    if (distributions[i].vocabulary() == target.vocabulary()) continue;
    const std::string name = distributions.size() == 1 ? "p" : "p[" + std::to_string(i) + "]";
    return error("{} and q have different lengths: {} and {}", name, distributions[i].vocabulary(),
                 target.vocabulary());
  }
  return PlanProblem{std::move(distributions), std::move(target), k};
}

}  // namespace spectr::cli
