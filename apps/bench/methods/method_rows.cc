#include "apps/bench/methods/method_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "apps/bench/mean.h"
#include "spectr/base/check.h"

namespace spectr::bench {
namespace {

Json mean_and_sd(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  return {{"mean", mean_of(values).value}, {"sd", or_null(deviation_of(values))}};
}

/// Applies `of` to every take.
template <class Of>
std::vector<double> each(std::span<const Take> takes, Of of) {
  std::vector<double> all;
  for (const Take& take : takes) all.push_back(std::invoke(of, take));
  return all;
}

double sum(std::span<const Take> takes, double Take::* member) {
  double all = 0.0;
  for (const Take& take : takes) all += take.*member;
  return all;
}

double perplexity_of(std::span<const Take> takes) {
  return std::exp(sum(takes, &Take::negative_log_likelihood) / sum(takes, &Take::tokens));
}

/// Returns the energy per token for one of the two energy sums.
std::optional<double> joules_per_token(std::span<const Take> takes, std::optional<double> Take::* energy) {
  double joules = 0.0;
  for (const Take& take : takes) {
    if (!(take.*energy)) return {};
    joules += *(take.*energy);
  }
  return joules / sum(takes, &Take::tokens);
}

/// Returns the mean score of the answers that have one.
std::optional<double> score_of(std::span<const Take> takes) {
  std::vector<double> scores;
  for (const Take& take : takes) {
    if (take.score) scores.push_back(*take.score);
  }
  return scores.empty() ? std::nullopt : std::optional(mean_of(scores).value);
}

/// Returns the number of prompts that both the method and plain decoding have finished.
std::size_t common(const Measurement& m) {
  return std::min(m.takes.size(), m.plain.size());
}

Mean speedup_of(const Measurement& m) {
  const std::size_t n = common(m);
  return ratio_of(each(std::span(m.plain).first(n), &Take::seconds_per_token),
                  each(std::span(m.takes).first(n), &Take::seconds_per_token));
}

/// Returns one number per repetition, or none if a repetition has no such number.
template <class Of>
std::vector<double> over_repeats(std::span<const Measurement> repeats, Of of) {
  std::vector<double> all;
  for (const Measurement& m : repeats) {
    const std::optional<double> value = of(m);
    if (!value) return {};
    all.push_back(*value);
  }
  return all;
}

Json score_json(std::string_view name, const std::vector<double>& scores) {
  if (name.empty() || scores.empty()) return nullptr;
  Json json = {{"name", name}};
  json.update(mean_and_sd(scores));
  return json;
}

/// Returns the mean score of each category over all repetitions, in order of first occurrence.
Json scores_by_category(std::span<const Measurement> repeats, std::span<const std::string> categories) {
  std::vector<std::pair<std::string, std::vector<double>>> all;
  for (const Measurement& m : repeats) {
    for (std::size_t n = 0; n < std::min(m.takes.size(), categories.size()); ++n) {
      if (categories[n].empty() || !m.takes[n].score) continue;
      auto known = std::ranges::find(all, categories[n], [](const auto& one) { return one.first; });
      if (known == all.end()) known = all.insert(all.end(), {categories[n], {}});
      known->second.push_back(*m.takes[n].score);
    }
  }
  Json means = Json::object();
  for (const auto& [category, scores] : all) means[category] = mean_of(scores).value;
  return means;
}

std::vector<double> mean_shares(std::span<const Measurement> repeats) {
  std::vector<double> shares;
  for (const Measurement& m : repeats) {
    shares.resize(std::max(shares.size(), m.acceptance_per_position.size()));
    for (std::size_t i = 0; i < m.acceptance_per_position.size(); ++i)
      shares[i] += m.acceptance_per_position[i] / static_cast<double>(repeats.size());
  }
  return shares;
}

double mean_over(std::span<const Measurement> repeats, double Measurement::* member) {
  double all = 0.0;
  for (const Measurement& m : repeats) all += m.*member / static_cast<double>(repeats.size());
  return all;
}

Json seconds_of(std::span<const Measurement> repeats) {
  return {{"prompt", mean_over(repeats, &Measurement::prompt_seconds)},
          {"draft", mean_over(repeats, &Measurement::draft_seconds)},
          {"target", mean_over(repeats, &Measurement::target_seconds)},
          {"select", mean_over(repeats, &Measurement::select_seconds)},
          {"total", mean_over(repeats, &Measurement::total_seconds)}};
}

Json efficiency_of(std::span<const Measurement> repeats) {
  std::vector<double> means;
  double tokens = 0.0, calls = 0.0;
  std::optional<double> error;
  for (const Measurement& m : repeats) {
    const Mean mean = mean_of(each(m.takes, &Take::block_efficiency));
    means.push_back(mean.value);
    error = mean.error;
    tokens += sum(m.takes, &Take::tokens);
    calls += sum(m.takes, &Take::calls);
  }
  Json json = mean_and_sd(means);
  json["se"] = repeats.size() == 1 ? or_null(error) : Json(nullptr);
  json["totals"] = tokens / calls;
  return json;
}

}  // namespace

Json row_of(Json head, std::span<const Measurement> repeats, const Json& paper, const Scoring& scoring) {
  SPECTR_CHECK(!repeats.empty());
  Json row = std::move(head);
  DraftShape shape;
  std::size_t prompts = repeats.front().takes.size();
  for (const Measurement& m : repeats) {
    shape = {std::max(shape.drafts, m.shape.drafts), std::max(shape.length, m.shape.length)};
    prompts = std::min(prompts, m.takes.size());
  }
  if (shape.drafts > 0) row["drafts"] = shape.drafts;  // the method may have chosen them itself
  if (shape.length > 0) row["length"] = shape.length;
  const auto speedups = over_repeats(repeats, [](const Measurement& m) { return speedup_of(m).value; });
  const auto joules_by = [&](std::optional<double> Take::* energy) {
    return over_repeats(repeats, [&](const Measurement& m) { return joules_per_token(m.takes, energy); });
  };
  const auto joules = joules_by(&Take::joules), sampled = joules_by(&Take::sampled_joules);
  const Measurement& first = repeats.front();
  row["repeats"] = repeats.size();
  row["prompts"] = prompts;
  row["block_efficiency"] = efficiency_of(repeats);
  row["tokens_per_second"] = mean_and_sd(over_repeats(repeats, [](const Measurement& m) {
    return sum(m.takes, &Take::tokens) / sum(m.takes, &Take::seconds);
  }));
  row["joules_per_token"] = joules.empty() ? Json(nullptr) : Json(mean_of(joules).value);
  row["joules_per_token_sd"] = or_null(deviation_of(joules));
  row["joules_per_token_sampled"] = sampled.empty() ? Json(nullptr) : Json(mean_of(sampled).value);
  row["perplexity"] = mean_and_sd(over_repeats(
      repeats, [](const Measurement& m) { return perplexity_of(std::span(m.takes).first(common(m))); }));
  row["score"] =
      score_json(scoring.name, over_repeats(repeats, [](const Measurement& m) { return score_of(m.takes); }));
  if (Json by_category = scores_by_category(repeats, scoring.categories);
      row["score"].is_object() && !by_category.empty()) {
    row["score"]["by_category"] = std::move(by_category);
  }
  row["speedup"] = mean_of(speedups).value;
  row["speedup_sd"] = or_null(deviation_of(speedups));
  row["speedup_se"] = repeats.size() == 1 ? or_null(speedup_of(first).error) : Json(nullptr);
  row["relative"] = nullptr;
  row["plain_tokens_per_second"] = mean_of(over_repeats(repeats, [](const Measurement& m) {
                                     return sum(m.plain, &Take::tokens) / sum(m.plain, &Take::seconds);
                                   })).value;
  row["acceptance_rate"] = mean_over(repeats, &Measurement::acceptance_rate);
  row["acceptance_per_position"] = mean_shares(repeats);
  const auto biases = over_repeats(repeats, [](const Measurement& m) { return m.bias_tv; });
  row["bias_tv"] = biases.empty() ? Json(nullptr) : Json(mean_of(biases).value);
  row["seconds"] = seconds_of(repeats);
  row["paper"] = paper;
  return row;
}

Json ranked_row(Json head, std::span<const Measurement> repeats, const Rank& rank, const Json& paper,
                const Scoring& scoring) {
  SPECTR_CHECK(rank.place < repeats.size());
  std::size_t prompts = repeats.front().takes.size();
  for (const Measurement& m : repeats) prompts = std::min(prompts, m.takes.size());
  std::vector<double> perplexities, scores;
  for (std::size_t n = 0; n < prompts; ++n) {
    std::vector<Take> answers;
    for (const Measurement& m : repeats) answers.push_back(m.takes[n]);
    std::ranges::sort(answers, {}, &Take::perplexity);
    perplexities.push_back(answers[rank.place].perplexity());
    if (answers[rank.place].score) scores.push_back(*answers[rank.place].score);
  }
  Json row = std::move(head);
  row["rank"] = rank.name;
  row["repeats"] = repeats.size();
  row["prompts"] = prompts;
  row["perplexity"] = mean_and_sd(perplexities);
  row["score"] = score_json(scoring.name, scores);
  row["paper"] = paper;
  return row;
}

Json reference_row(Json head, std::span<const Measurement> measurements) {
  double tokens = 0.0, seconds = 0.0, likelihood = 0.0;
  std::size_t prompts = 0;
  for (const Measurement& m : measurements) {
    tokens += sum(m.plain, &Take::tokens);
    seconds += sum(m.plain, &Take::seconds);
    likelihood += sum(m.plain, &Take::negative_log_likelihood);
    prompts = std::max(prompts, m.plain.size());
  }
  Json row = std::move(head);
  row["method"] = "plain";
  row["measurements"] = measurements.size();
  row["prompts"] = prompts;
  row["tokens_per_second"] = tokens / seconds;
  row["perplexity"] = std::exp(likelihood / tokens);
  return row;
}

Json row_across(std::span<const Json> rows) {
  SPECTR_CHECK(!rows.empty());
  Json row = rows.front();
  for (const char* name : {"column", "drafts", "length", "beams", "beam_mode", "tau", "bild_fallback",
                           "bild_rollback", "warp", "paper"}) {
    for (const Json& other : rows) {
      if (other[name] != rows.front()[name]) row[name] = nullptr;
    }
  }
  const auto means = [&](const Json::json_pointer& path) {
    std::vector<double> all;
    for (const Json& other : rows) {
      if (!other.contains(path) || other.at(path).is_null()) return std::vector<double>{};
      all.push_back(other.at(path).get<double>());
    }
    return all;
  };
  row["dataset"] = nullptr;
  row["datasets"] = rows.size();
  const Json totals = mean_and_sd(means("/block_efficiency/totals"_json_pointer));
  for (const char* name : {"block_efficiency", "tokens_per_second", "perplexity"})
    row[name] = mean_and_sd(means(Json::json_pointer(std::string("/") + name + "/mean")));
  row["block_efficiency"]["se"] = nullptr;
  row["block_efficiency"]["totals"] = totals["mean"];
  const auto same_score = [&](const Json& other) {
    return other["score"].is_object() && other["score"]["name"] == rows.front()["score"]["name"];
  };
  row["score"] =
      std::ranges::all_of(rows, same_score)
          ? score_json(rows.front()["score"]["name"].get<std::string>(), means("/score/mean"_json_pointer))
          : Json(nullptr);
  for (const char* name : {"joules_per_token", "speedup"}) {
    const Json value = mean_and_sd(means(Json::json_pointer(std::string("/") + name)));
    row[name] = value.is_null() ? Json(nullptr) : value["mean"];
    row[std::string(name) + "_sd"] = value.is_null() ? Json(nullptr) : value["sd"];
  }
  row["speedup_se"] = nullptr;
  for (const char* name : {"acceptance_rate", "bias_tv", "plain_tokens_per_second"}) {
    const auto all = means(Json::json_pointer(std::string("/") + name));
    row[name] = all.empty() ? Json(nullptr) : Json(mean_of(all).value);
  }
  row["prompts"] = nullptr;
  row["acceptance_per_position"] = Json::array();
  for (const char* stage : {"prompt", "draft", "target", "select", "total"})
    row["seconds"][stage] = mean_of(means(Json::json_pointer(std::string("/seconds/") + stage))).value;
  return row;
}

void set_relative(Json& rows, std::string_view to) {
  if (to.empty()) return;
  const auto comparable = [](const Json& a, const Json& b) {
    return std::ranges::all_of(std::initializer_list<const char*>{"dataset", "column", "warp"},
                               [&](const char* name) { return a[name] == b[name]; }) &&
           (a["models"]["draft"].is_null() || b["models"]["draft"].is_null() ||
            a["models"]["draft"] == b["models"]["draft"]);
  };
  for (Json& row : rows) {
    if (!row.contains("speedup")) continue;
    std::vector<const Json*> bases;
    for (const Json& other : rows) {
      if (other["method"] == to && comparable(row, other)) bases.push_back(&other);
    }
    const auto same_length =
        std::ranges::find_if(bases, [&](const Json* base) { return (*base)["length"] == row["length"]; });
    const Json* base = same_length != bases.end() ? *same_length
                       : bases.size() == 1        ? bases.front()
                                                  : nullptr;
    if (base == nullptr) continue;
    row["relative"] = row["speedup"].get<double>() / (*base)["speedup"].get<double>();
    const Json &printed = row["paper"], &printed_base = (*base)["paper"];
    if (printed.is_null() || printed_base.is_null()) continue;
    for (const char* speed : {"tokens_per_second", "speedup"}) {
      if (printed[speed].is_null() || printed_base[speed].is_null()) continue;
      row["paper"]["relative"] =
          printed[speed]["mean"].get<double>() / printed_base[speed]["mean"].get<double>();
    }
  }
}

}  // namespace spectr::bench
