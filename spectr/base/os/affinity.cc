#include "spectr/base/os/affinity.h"

#include <sched.h>

namespace spectr {

static_assert(max_processors <= CPU_SETSIZE);

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;  // too many processors for a cpu_set_t
  for (int i = 0; i < max_processors; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

void allow_processors(std::span<const int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int one : processors) CPU_SET(one, &set);
  if (!processors.empty()) (void)sched_setaffinity(0, sizeof set, &set);
}

int current_processor() {
  return sched_getcpu();
}

}  // namespace spectr
