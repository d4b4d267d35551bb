#pragma once

#include <string>

namespace spectr::cli {

/// "AMD EPYC", as /proc/cpuinfo has it.
std::string processor_name();

}  // namespace spectr::cli
