#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "spectr/engine/slot_pool.h"

namespace spectr::server {

/// Returns the metrics of the server in Prometheus' text format. `answers` counts answers by HTTP status.
/// Metrics that llama.cpp also has are listed twice, with the prefixes spectr_ and llamacpp:.
std::string metrics_of(const SlotPool& slots, const std::map<int, std::uint64_t>& answers);

}  // namespace spectr::server
