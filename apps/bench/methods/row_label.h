#pragma once

#include <string>

#include "apps/support/json.h"

namespace spectr::bench {

/// Returns a label of method, plan and the other settings of a row of `bench methods` except K, L, beams and
/// filters: "spectr k-seq", "mtad τ=0.1".
std::string label_of(const Json& row);

/// Returns the file name of a row's draft model without extension; empty if there is none.
std::string draft_name(const Json& row);

/// Returns true if the rows use more than one draft model.
bool several_drafts(const Json& rows);

}  // namespace spectr::bench
