#include "spectr/decode/costs.h"

#include <bit>

#include "spectr/base/fnv1a.h"

namespace spectr {

Costs Costs::shared(std::size_t texts) const {
  Costs shared{target.shared(texts), {}, select};
  for (const DraftCosts& draft : drafts)
    shared.drafts.push_back(
        {draft.passes.shared(texts), draft.alternation / static_cast<double>(texts), draft.reading});
  return shared;
}

std::uint64_t Costs::hash() const {
  Fnv1a hash;
  const auto add_seconds = [&hash](double seconds) { hash.add(std::bit_cast<std::uint64_t>(seconds)); };
  const auto add_curve = [&](const CostCurve& curve) {
    hash.add(curve.points().size());
    for (const CostCurve::Point& point : curve.points()) {
      hash.add(point.rows);
      add_seconds(point.seconds);
    }
    hash.add(curve.attention().behind);
    add_seconds(curve.attention().per_token);
  };
  add_curve(target);
  for (const DraftCosts& draft : drafts) {
    add_curve(draft.passes);
    add_seconds(draft.alternation);
    if (draft.reading) add_seconds(*draft.reading);
  }
  for (double seconds : {select.law, select.filtered, select.likelihood, select.one, select.several})
    add_seconds(seconds);
  return hash.value();
}

}  // namespace spectr
