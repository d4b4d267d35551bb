#pragma once

namespace spectr {

/// The slots that chose one expert, as plain data for host and kernels: a range of a list of slots.
struct ExpertGroup {
  int block;  ///< the expert's index relative to the first one on this device
  int begin, size;
};

}  // namespace spectr
