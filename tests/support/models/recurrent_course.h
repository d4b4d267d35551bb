#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "spectr/backend/device/state_memory.h"
#include "spectr/nn/kv_slots.h"
#include "tests/support/devices/device_numbers.h"

// Recurrent layers on a device without a surrounding model: each token determines random inputs.
namespace spectr::test {

/// The shape of a gated delta net, followed by a short convolution of `width` channels.
struct RecurrentShape {
  std::size_t key_heads, value_heads, dim, kernel, width;

  std::size_t inner() const { return value_heads * dim; }
  std::size_t channels() const { return 2 * key_heads * dim + inner(); }
};

/// A computed row: the tokens of its path, including its own, and the layers' output for it: o of the delta
/// net, then the outputs of the convolution.
struct RecurrentRow {
  std::vector<Token> path;
  std::vector<float> out;
};

/// Returns the output for the last token of a path by the layers' definitions.
std::vector<double> defined(const RecurrentShape& shape, std::span<const Token> path);

/// Runs passes over both layers.
class RecurrentLayersOn {
 public:
  RecurrentLayersOn(Device& device, const RecurrentShape& shape);

  StateMemory& memory() { return memory_; }
  /// Runs a pass and returns its rows.
  std::vector<RecurrentRow> run(const PassBatch& batch);
  /// Copies a cache.
  void copy(const CacheCopy& copy);

 private:
  struct Plan;
  std::vector<call::AnyCall> delta_net(const call::PlannedStates& plan) const;
  std::vector<call::AnyCall> short_convolution(const call::PlannedStates& plan) const;
  std::vector<Token> path_of(const PassBatch& batch, std::size_t row) const;

  Device& device_;
  RecurrentShape shape_;
  ModelSpec spec_;
  StateMemory memory_;
  Numbers convolution_, a_, dt_bias_, short_weight_;
  Numbers x_, alpha_, beta_, in_, products_, out_, convolved_;  // for the current pass
  std::map<CacheId, std::map<std::size_t, Token>> tokens_;      // by slot
};

/// Runs two sequences that are read in pieces, draft and keep paths, roll back and are copied, across several
/// states. Calls `each` for every computed row.
void recurrent_course(Device& device, const RecurrentShape& shape,
                      const std::function<void(const RecurrentRow&)>& each);

}  // namespace spectr::test
