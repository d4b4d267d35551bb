#pragma once

#include <cstddef>
#include <memory>

#include "spectr/backend/device/calls.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Buffers of mixture-of-experts layers, sized for the layer that needs most.
class DeviceExperts {
 public:
  explicit DeviceExperts(const ModelSpec& spec);
  /// Throws std::bad_alloc.
  void reserve(std::size_t rows, Device& device);

  /// Returns the layout of the largest quantized input of an expert's down projection.
  QuantizedLayout rows_of_down(std::size_t rows) const { return {rows * used_, block_}; }

  // Operands of the current layer.

  call::Rows outputs(std::size_t experts) const { return {{router_.get()}, experts}; }  ///< [rows][experts]
  Slice chosen() const { return {chosen_.get()}; }                                      ///< [slots]
  Slice weights() const { return {weights_.get()}; }                                    ///< [slots]
  Slice lists() const { return {lists_.get()}; }
  // Indexed by slot.
  call::Rows gates(std::size_t cols) const { return {{gates_.get()}, cols}; }
  call::Rows ups(std::size_t cols) const { return {{ups_.get()}, cols}; }
  call::Rows outs(std::size_t cols) const { return {{outs_.get()}, cols}; }

 private:
  std::size_t width_, experts_ = 0, used_ = 0, block_ = 0;
  std::unique_ptr<DeviceMemory> router_, chosen_, weights_, lists_, gates_, ups_, outs_;
};

}  // namespace spectr
