#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/attention_plan.h"
#include "spectr/backend/device/cache_blocks.h"
#include "spectr/backend/device/extra_head_rows.h"
#include "spectr/backend/device/state_plan.h"
#include "spectr/backend/device/weights/device_weights.h"

namespace spectr {

/// The properties of a pass on which its kernel calls depend. Passes with equal shapes, and unchanged memory
/// locations, replay the same recording.
struct PassShape {
  std::size_t rows = 0, wanted = 0;
  std::size_t items = 0;   ///< capacity for attention items
  std::size_t moves = 0;   ///< capacity for moves
  std::size_t states = 0;  ///< capacity for states, if there are recurrent layers
  std::size_t texts = 0;   ///< number of sequences, if there are recurrent layers
  std::size_t words = 0;   ///< capacity for extra tokens of all wanted rows
  std::size_t logits = 0;  ///< index of the pass's logits in the pool
  bool fuses = false;      ///< see PassBatch::fuses

  friend auto operator<=>(const PassShape&, const PassShape&) = default;
};

/// The inputs of a pass's kernel calls: moves, embeddings, RoPE angles, attention plans. They are one
/// allocation, uploaded in one piece; the offset of each part is determined by the pass's shape. Only the
/// head rows of extra tokens are kept on the device between passes.
class PassData {
 public:
  /// Rows of a sequence that share attention chunks. More would leave too few work groups.
  static constexpr std::size_t rows_together(std::size_t rows) { return rows > 16 ? 2 : 1; }

  /// All arguments must outlive it.
  PassData(const ModelSpec& spec, const DeviceWeights& weights, Device& device);

  /// Plans a pass and sets `shape`, except the logits. Returns true if the memory was reallocated. Throws
  /// std::bad_alloc.
  bool plan(const PassBatch& batch, const CacheBlocks& blocks, StateMemory& states, PassShape& shape);
  /// Returns the rows of partial attention results, maximum over all plans.
  std::size_t parts() const { return parts_; }
  /// Uploads the planned data to the device.
  Result<void> send();

  // Locations of the planned data.
  Slice move_count() const { return at(places_.move_count); }
  Slice moves() const { return at(places_.moves); }
  Slice wanted() const { return at(places_.wanted); }  ///< [wanted] rows
  /// [rows][width]; of drafters that join embeddings and states: [rows][PairSpec::token_width].
  Slice embedded() const { return at(places_.embedded); }
  /// [rows][feature_cols()], the features of the batch; drafters only.
  Slice features() const { return at(places_.features); }
  std::size_t feature_cols(const PassShape& shape) const;
  /// [rows][layers · d]: rows of LayerEmbeddingSpec::tokens, scaled by √d.
  Slice layer_embedded() const { return at(places_.layer_embedded); }
  Slice words() const { return at(places_.words); }  ///< [words] ExtraTokens
  call::Rows extra_head_rows() const { return extra_head_rows_.rows(); }
  Slice written() const { return at(places_.written); }  ///< [rows] PoolSlots
  Slice listed() const { return at(places_.listed); }
  /// [rows][dims / 2] pairs for a layer, and [rows] query scales if they depend on the position.
  Slice angles(std::size_t layer) const { return at(places_.angles[layers_[layer].rope]); }
  Slice scales(std::size_t layer) const;
  Slice items(std::size_t layer) const { return at(places_.items[layers_[layer].window]); }
  Slice state_move_count() const { return at(places_.state_move_count); }
  Slice state_moves() const { return at(places_.state_moves); }
  /// Requires: there are recurrent layers.
  call::PlannedStates states() const;
  Slice rows(std::size_t layer) const { return at(places_.rows[layers_[layer].window]); }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Indices of a layer's entries in the lists below.
  struct Layer {
    std::size_t rope = 0, temperature = none, window = 0;
  };
  struct Temperature {
    TemperatureSpec spec;
    float scale;

    friend bool operator==(const Temperature& a, const Temperature& b) {
      return a.spec.scale == b.spec.scale && a.spec.period == b.spec.period && a.scale == b.scale;
    }
  };
  /// Byte offsets of the parts.
  struct Places {
    std::size_t move_count = 0, moves = 0, wanted = 0, embedded = 0, layer_embedded = 0, words = 0,
                features = 0, written = 0, listed = 0;
    std::size_t state_move_count = 0, state_moves = 0, state_rows = 0, state_steps = 0, state_texts = 0;
    std::vector<std::size_t> angles, scales, items, rows;
  };

  Slice at(std::size_t offset) const { return {memory_.get(), offset}; }
  void place(const PassShape& shape);
  void write_embedded(const PassBatch& batch);
  void write_layer_embedded(const PassBatch& batch);
  void write_words(const PassBatch& batch, std::size_t room);
  void write_angles(const PassBatch& batch, const CacheBlocks& blocks);
  void write_moves(std::size_t count_at, std::size_t moves_at, const std::vector<PoolSlot>& moves);
  template <class T>
  void write(std::size_t offset, std::span<const T> numbers);
  template <class T>
  void write_padded(std::size_t offset, std::span<const T> some, std::size_t count);
  template <class T>
  T* here(std::size_t offset) const {
    return reinterpret_cast<T*>(staging_->bytes().data() + offset);
  }

  const ModelSpec& spec_;
  const DeviceWeights& weights_;
  Device& device_;
  std::vector<Layer> layers_;
  std::vector<RopeSpec> ropes_;
  std::vector<Temperature> temperatures_;
  std::vector<std::size_t> windows_;
  std::vector<AttentionPlan> plans_;  // by window
  std::vector<std::span<const int>> tables_;
  StatePlan states_;
  std::size_t parts_ = 0;
  Places places_;
  std::size_t bytes_ = 0;  // of the pass's data
  std::unique_ptr<StagingMemory> staging_;
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t embedding_width_;
  std::vector<float> position_;
  ExtraHeadRows extra_head_rows_;
  std::size_t times_moved_ = 0;  // reallocations of memory_
  std::size_t told_ = 0;         // total reallocations reported by the last plan()
};

}  // namespace spectr
