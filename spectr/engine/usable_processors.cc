#include "spectr/engine/usable_processors.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "spectr/base/os/affinity.h"

namespace spectr {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Returns the quota of one control group: from a file "quota period" in version 2, or from one file each in
/// version 1. Any value other than a positive number ("max") means no quota.
double quota_of(const std::filesystem::path& group) {
  double quota = 0.0;
  double period = 0.0;
  if (std::ifstream both(group / "cpu.max"); both) {
    both >> quota >> period;
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0.0 && period > 0.0 ? quota / period : unlimited;
}

int processors() {
  const std::size_t allowed = allowed_processors().size();
  return static_cast<int>(allowed > 0 ? allowed : std::thread::hardware_concurrency());
}

}  // namespace

double processor_quota(std::istream& groups, const std::filesystem::path& root) {
  double min = unlimited;
  for (std::string line; std::getline(groups, line);) {  // "0::/path" or "4:cpu,cpuacct:/path"
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(":/", controllers);
    if (controllers == 0 || path == std::string::npos) continue;
    std::filesystem::path group = root / line.substr(controllers, path - controllers);
    min = std::min(min, quota_of(group));
    for (const auto& part : std::filesystem::path(line.substr(path + 2))) {
      group /= part;
      min = std::min(min, quota_of(group));
    }
  }
  return min;
}

int usable_processors() {
  std::ifstream groups("/proc/self/cgroup");
  const double quota = std::ceil(processor_quota(groups, "/sys/fs/cgroup"));
  const int all = std::max(1, processors());
  return quota < all ? static_cast<int>(quota) : all;
}

}  // namespace spectr
