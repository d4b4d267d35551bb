#pragma once

#include <filesystem>
#include <istream>

namespace spectr {

/// Returns the number of processors that this process may keep busy, ≥ 1: those that it may run on, limited
/// by the quota of its control groups (such as a container's), rounded up.
int usable_processors();

/// Returns the processor time per second that control groups allow; infinite without a quota. It is the
/// minimum over `groups`, in the format of /proc/self/cgroup, and their parents, with folders below `root`.
double processor_quota(std::istream& groups, const std::filesystem::path& root);

}  // namespace spectr
