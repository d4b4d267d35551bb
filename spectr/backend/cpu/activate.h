#pragma once

#include <span>

#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// gate = act(gate) ⊙ up, or up = act(up) without a gate, row by row. Both are [rows, width of the block].
void activate(const DenseSpec& spec, Span2d<float> gate, Span2d<float> up, ThreadPool& pool);

/// gate[j] = act(gate[j]) up[j]. For `clamp`, see DenseSpec. Both spans must have the same length.
void activate(Activation activation, float clamp, std::span<float> gate, std::span<const float> up);

}  // namespace spectr
