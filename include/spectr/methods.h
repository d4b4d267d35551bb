// The tables of plans and of methods.
//
//     for (const spectr::PlanInfo& plan : spectr::plans()) std::puts(plan.name);
//
// The strings are static. The functions do not fail, are thread-safe, and allocate one vector.
#pragma once

#include <spectr.h>

#include <cstddef>
#include <vector>

namespace spectr::inline v0 {

/// A row of the table of plans: name, summary, lossless, independent, max_drafts; see spectr.h.
using PlanInfo = spectr_plan_info;

/// A row of the table of methods: name, summary, plan, lossless, verifies_arrays; see spectr.h.
using MethodInfo = spectr_method_info;

/// Returns all plans, in the order of the documentation.
inline std::vector<PlanInfo> plans() {
  std::vector<PlanInfo> all;
  PlanInfo info;
  while (spectr_plan_at(all.size(), &info)) all.push_back(info);
  return all;
}

/// Returns all methods, in the order of the documentation.
inline std::vector<MethodInfo> methods() {
  std::vector<MethodInfo> all;
  MethodInfo info;
  while (spectr_method_at(all.size(), &info)) all.push_back(info);
  return all;
}

}  // namespace spectr::inline v0
