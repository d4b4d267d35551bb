#pragma once

#include <span>
#include <vector>

namespace spectr {

/// Processors have numbers below this.
constexpr int max_processors = 1024;

/// Returns the processors on which this thread may run, ascending; none if the system does not say.
std::vector<int> allowed_processors();

/// Lets this thread, and threads that it starts, run on these processors only. Has no effect if the list is
/// empty or the system refuses. Requires: 0 ≤ each < max_processors.
void allow_processors(std::span<const int> processors);

/// Returns the processor on which this thread is running, or −1 if the system does not say.
int current_processor();

}  // namespace spectr
