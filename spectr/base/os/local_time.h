#pragma once

#include <ctime>

namespace spectr {

/// Returns a time as a date and time of day in the time zone of the machine. Thread-safe.
std::tm local_time(std::time_t time);

}  // namespace spectr
