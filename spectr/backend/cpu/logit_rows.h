#pragma once

#include <cstddef>
#include <memory>

#include "spectr/base/span2d.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// Memory for the logits of passes: as much as their wanted rows take, used again when its holders have let
/// go.
class LogitRowPool {
 public:
  explicit LogitRowPool(std::size_t vocabulary);

  /// Logits in the making.
  struct Rows {
    Span2d<float> numbers;
    std::shared_ptr<const PassLogits> logits;  ///< of the same numbers
  };
  /// So many rows. Throws std::bad_alloc.
  Rows take(std::size_t rows);

 private:
  class HostLogits;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace spectr
