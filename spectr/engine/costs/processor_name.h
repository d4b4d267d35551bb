#pragma once

#include <istream>
#include <string>

namespace spectr {

/// "AMD EPYC", as /proc/cpuinfo has it. On ARM that names nobody: "ARM 0x41/0xd05 and 0x41/0xd0b" are the
/// numbers of the maker and the part of each kind of core.
std::string processor_name();

/// The same from text of this form.
std::string processor_name(std::istream& info);

}  // namespace spectr
