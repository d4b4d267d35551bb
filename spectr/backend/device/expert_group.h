#pragma once

namespace spectr {

/// Choices of one expert, as plain data for host and kernels: those of a list of slots from `begin` on.
struct ExpertGroup {
  int block;  ///< the expert, counted from the first that is here
  int begin, size;
};

}  // namespace spectr
