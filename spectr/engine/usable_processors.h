#pragma once

#include <filesystem>
#include <istream>

namespace spectr {

/// How many processors this process may keep busy, ≥ 1: those that it may run on, and no more than the quota
/// of its control groups pays for (as that of a container has one), rounded up.
int usable_processors();

/// Processors' worth of time that the control groups allow, infinite without a quota: the least of those of
/// `groups`, in the form of /proc/self/cgroup, and of the groups around them, whose folders lie in `root`.
double processor_quota(std::istream& groups, const std::filesystem::path& root);

}  // namespace spectr
