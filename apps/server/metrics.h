#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "spectr/engine/slot_pool.h"

namespace spectr::server {

/// What the server counts, in the text format of Prometheus. `answers`: their number by HTTP status. Names
/// that llama.cpp has, too, stand there twice: with the prefixes spectr_ and llamacpp:.
std::string metrics_of(const SlotPool& slots, const std::map<int, std::uint64_t>& answers);

}  // namespace spectr::server
