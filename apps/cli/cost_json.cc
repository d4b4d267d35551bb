#include "apps/cli/cost_json.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace spectr::cli {
namespace {

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

/// What earlier completions have taught, where an entry has it.
decltype(DraftCosts::learned) learned_from(const Json& draft) {
  decltype(DraftCosts::learned) learned;
  const auto all = draft.find("learned");
  if (all == draft.end()) return learned;
  for (std::size_t i = 0; i < support_count; ++i) {
    const auto one = all->find(support_names[i]);
    if (one == all->end()) continue;
    LearnedAcceptance& read = learned[i].emplace();
    one->at("confidences").get_to(read.confidences);
    one->at("accepted").get_to(read.accepted);
    const auto check = [](double probability) {
      if (!(probability >= 0.0 && probability <= 1.0)) throw std::out_of_range("learned");
    };
    std::ranges::for_each(read.confidences, check);
    for (const auto& accepted : read.accepted) std::ranges::for_each(accepted, check);
  }
  return learned;
}

}  // namespace

Json to_json(const LearnedAcceptance& learned) {
  return {{"confidences", learned.confidences}, {"accepted", learned.accepted}};
}

Json to_json(const Costs& costs) {
  Json drafts = Json::array();
  for (const DraftCosts& draft : costs.drafts) {
    drafts.push_back(to_json(draft.passes));
    drafts.back()["alternation"] = draft.alternation;
    if (draft.reading) drafts.back()["reading"] = *draft.reading;
    for (std::size_t i = 0; i < support_count; ++i) {
      if (draft.learned[i]) drafts.back()["learned"][support_names[i]] = to_json(*draft.learned[i]);
    }
  }
  const SelectCosts& select = costs.select;
  return {{"target", to_json(costs.target)},
          {"drafts", std::move(drafts)},
          {"select",
           {{"law", select.distribution},
            {"filtered", select.filtered},
            {"likelihood", select.likelihood},
            {"one", select.one},
            {"several", select.several},
            {"optimal", select.optimal}}}};
}

std::optional<Costs> costs_from(const Json& entry, std::size_t draft_models) {
  try {
    std::vector<DraftCosts> drafts;
    for (const Json& draft : entry.at("drafts")) {
      drafts.push_back({curve_from(draft), seconds_from(draft.at("alternation")),
                        seconds_from(draft.at("reading")), learned_from(draft)});
    }
    if (drafts.size() != draft_models) throw std::out_of_range("drafts");
    const Json& select = entry.at("select");
    return Costs{curve_from(entry.at("target")),
                 std::move(drafts),
                 {seconds_from(select.at("law")), seconds_from(select.at("filtered")),
                  seconds_from(select.at("likelihood")), seconds_from(select.at("one")),
                  seconds_from(select.at("several")), seconds_from(select.at("optimal"))}};
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

}  // namespace spectr::cli
