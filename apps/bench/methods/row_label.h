#pragma once

#include <string>

#include "apps/support/json.h"

namespace spectr::bench {

/// Method, plan and what else tells a row of `bench methods` from others but K, L, beams and filters:
/// "spectr k-seq", "mtad τ=0.1".
std::string label_of(const Json& row);

/// The name of a row's draft model without folder and ending; empty: it has none.
std::string draft_name(const Json& row);

/// Whether the rows are of more than one draft model.
bool several_drafts(const Json& rows);

}  // namespace spectr::bench
