#include "spectr/engine/costs/cost_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace spectr {
namespace {

using Json = nlohmann::ordered_json;

/// Names of the kinds of distributions whose acceptance an entry has, by Support.
constexpr const char* support_names[support_count] = {"whole", "cut", "point"};

Json to_json(const CostCurve& curve) {
  Json points = Json::array();
  for (const CostCurve::Point& p : curve.points()) points.push_back({p.rows, p.seconds});
  return {{"passes", std::move(points)},
          {"behind", curve.attention().behind},
          {"attention", curve.attention().per_token}};
}

std::size_t count_from(const Json& count) {
  if (!count.is_number_unsigned()) throw std::out_of_range("count");
  return count.get<std::size_t>();
}

double seconds_from(const Json& seconds) {
  const auto read = seconds.get<double>();
  if (!(read >= 0.0)) throw std::out_of_range("seconds");
  return read;
}

double probability_from(const Json& probability) {
  const auto read = probability.get<double>();
  if (!(read >= 0.0 && read <= 1.0)) throw std::out_of_range("learned");
  return read;
}

CostCurve curve_from(const Json& curve) {
  std::vector<CostCurve::Point> read;
  for (const Json& p : curve.at("passes")) {
    read.push_back({count_from(p.at(0)), p.at(1).get<double>()});
    if (read.back().rows < 1 || !(read.back().seconds > 0.0)) throw std::out_of_range("points");
    if (read.size() < 2) continue;
    const CostCurve::Point& before = read[read.size() - 2];
    if (before.rows >= read.back().rows || before.seconds > read.back().seconds)
      throw std::out_of_range("points");
  }
  if (read.empty()) throw std::out_of_range("points");
  return CostCurve(std::move(read), {.behind = count_from(curve.at("behind")),
                                     .per_token = seconds_from(curve.at("attention"))});
}

/// Returns the acceptance learned from earlier completions, if an entry has it.
decltype(DraftCosts::learned) learned_from(const Json& draft) {
  decltype(DraftCosts::learned) learned;
  const auto all = draft.find("learned");
  if (all == draft.end()) return learned;
  for (std::size_t i = 0; i < support_count; ++i) {
    const auto one = all->find(support_names[i]);
    if (one == all->end()) continue;
    std::vector<LearnedPosition>& positions = learned[i].emplace();
    for (const Json& read : *one) {
      LearnedPosition& position = positions.emplace_back();
      position.confidence = probability_from(read.at(0));
      position.merging = probability_from(read.at(1));
      const std::size_t numbers = position.accepted.size();
      for (std::size_t k = 0; k < numbers; ++k) position.accepted[k] = probability_from(read.at(2 + k));
      if (read.size() > 2 + numbers) position.level = count_from(read.at(2 + numbers));
    }
    if (positions.empty()) throw std::out_of_range("learned");
  }
  return learned;
}

/// Converts the options, under the names of their flags.
Json to_json(const SlimOptions& slim) {
  const auto* words = std::get_if<std::size_t>(&slim.words);
  return {{"type", slim.type ? Json(format_of(*slim.type).name) : Json(nullptr)},
          {"words", words != nullptr ? Json(*words) : Json(nullptr)}};
}

std::optional<double> number_in(const Json& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

}  // namespace

std::string json_of(const CostEntry& entry) {
  Json drafts = Json::array();
  for (const DraftCosts& draft : entry.costs.drafts) {
    drafts.push_back(to_json(draft.passes));
    drafts.back()["alternation"] = draft.alternation;
    if (draft.reading) drafts.back()["reading"] = *draft.reading;
    if (draft.first) drafts.back()["first"] = *draft.first;
    if (draft.block) drafts.back()["block"] = *draft.block;
    for (std::size_t i = 0; i < support_count; ++i) {
      const auto& learned = draft.learned[i];
      if (!learned) continue;
      Json positions = Json::array();
      for (const LearnedPosition& position : *learned) {
        positions.push_back({position.confidence, position.merging});
        for (const double accepted : position.accepted) positions.back().push_back(accepted);
        if (position.level > 0) positions.back().push_back(position.level);
      }
      drafts.back()["learned"][support_names[i]] = std::move(positions);
    }
  }
  const SelectCosts& select = entry.costs.select;
  Json json = {{"target", to_json(entry.costs.target)},
               {"drafts", std::move(drafts)},
               {"select",
                {{"law", select.distribution},
                 {"filtered", select.filtered},
                 {"likelihood", select.likelihood},
                 {"one", select.one},
                 {"several", select.several},
                 {"optimal", select.optimal}}}};
  if (entry.disturbed) json["disturbed"] = *entry.disturbed;
  if (entry.off) json["off"] = *entry.off;
  return json.dump();
}

std::optional<CostEntry> cost_entry(std::string_view json, std::size_t draft_models) {
  try {
    const Json entry = Json::parse(json);
    std::vector<DraftCosts> drafts;
    for (const Json& draft : entry.at("drafts")) {
      drafts.push_back({curve_from(draft), seconds_from(draft.at("alternation")),
                        seconds_from(draft.at("reading")), learned_from(draft)});
      if (draft.contains("first")) drafts.back().first = seconds_from(draft.at("first"));
      if (!draft.contains("block")) continue;
      drafts.back().block = count_from(draft.at("block"));
      if (*drafts.back().block == 0) throw std::out_of_range("block");
    }
    if (drafts.size() != draft_models) throw std::out_of_range("drafts");
    const Json& select = entry.at("select");
    return CostEntry{{curve_from(entry.at("target")),
                      std::move(drafts),
                      {seconds_from(select.at("law")), seconds_from(select.at("filtered")),
                       seconds_from(select.at("likelihood")), seconds_from(select.at("one")),
                       seconds_from(select.at("several")), seconds_from(select.at("optimal"))}},
                     number_in(entry, "disturbed"),
                     number_in(entry, "off")};
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

std::string json_of(const SlimTrials& trials, std::string_view target) {
  Json all = Json::array();
  for (const SlimTrial& trial : trials.trials) {
    all.push_back(to_json(trial.options));
    all.back()["pass"] = trial.pass_seconds;
    all.back()["acceptance"] = trial.acceptance;
    all.back()["speedup"] = trial.speedup;
  }
  return Json{{"target", target}, {"slim", to_json(trials.chosen())}, {"trials", all}}.dump();
}

std::optional<SlimOptions> chosen_slimming(std::string_view json) {
  const Json entry = Json::parse(json, nullptr, false);
  const auto slim = entry.find("slim");
  if (slim == entry.end() || !slim->is_object()) return std::nullopt;
  SlimOptions options;
  if (slim->value("type", Json()).is_string()) {
    for (const TensorFormat& format : tensor_formats()) {
      if (format.name == slim->at("type").get<std::string>()) options.type = format.type;
    }
    if (!options.type) return std::nullopt;
  }
  const Json words = slim->value("words", Json());
  if (words.is_number_unsigned()) options.words = words.get<std::size_t>();
  return options;
}

}  // namespace spectr
