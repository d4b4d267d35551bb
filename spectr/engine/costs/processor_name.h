#pragma once

#include <istream>
#include <string>

namespace spectr {

/// Returns the name in /proc/cpuinfo: "AMD EPYC". On ARM, which has no names, returns the implementer and
/// part numbers of each kind of core: "ARM 0x41/0xd05 and 0x41/0xd0b".
std::string processor_name();

/// Returns the same from text in the format of /proc/cpuinfo.
std::string processor_name(std::istream& info);

}  // namespace spectr
