#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/attention_plan.h"
#include "spectr/backend/device/cache_blocks.h"
#include "spectr/backend/device/own_rows.h"
#include "spectr/backend/device/state_plan.h"
#include "spectr/backend/device/weights/device_weights.h"

namespace spectr {

/// What kernel calls depend on of a pass, beside the places of their memory: passes that have this in common
/// replay one recording.
struct PassShape {
  std::size_t rows = 0, wanted = 0;
  std::size_t items = 0;   ///< that attention has room for
  std::size_t moves = 0;   ///< that there is room for
  std::size_t states = 0;  ///< that there is room for, where there are recurrent layers, and
  std::size_t texts = 0;   ///< that the rows belong to
  std::size_t words = 0;   ///< of sequences' own words, for all wanted rows: that there is room for
  std::size_t logits = 0;  ///< which memory its logits go to

  friend auto operator<=>(const PassShape&, const PassShape&) = default;
};

/// What a pass is about, as the bytes that its kernel calls read: moves, embeddings, angles, what attends to
/// what. All of it is one piece of memory, written at once, and each part has a place by the pass's shape;
/// rows for sequences' own words alone stay on the device.
class PassData {
 public:
  /// Rows of a text that read its chunks together: more would leave groups of threads without work.
  static constexpr std::size_t rows_together(std::size_t rows) { return rows > 16 ? 2 : 1; }

  /// All must outlive it.
  PassData(const ModelSpec& spec, const DeviceWeights& weights, Device& device);

  /// Plans a pass, and gives its shape but for the logits. Returns whether the memory lies elsewhere now.
  /// Throws std::bad_alloc.
  bool plan(const PassBatch& batch, const CacheBlocks& blocks, StateMemory& states, PassShape& shape);
  /// Rows of all items of the plan that has most of them.
  std::size_t parts() const { return parts_; }
  /// Sends it to the device.
  Result<void> send();

  // Places of what was planned last.
  Slice move_count() const { return at(places_.move_count); }
  Slice moves() const { return at(places_.moves); }
  Slice wanted() const { return at(places_.wanted); }      ///< [wanted] rows
  Slice embedded() const { return at(places_.embedded); }  ///< [rows][width]
  /// [rows][layers · d], √d times what LayerEmbeddingSpec::tokens has.
  Slice layer_embedded() const { return at(places_.layer_embedded); }
  Slice words() const { return at(places_.words); }  ///< [words] OwnWords
  call::Rows own_rows() const { return own_rows_.rows(); }
  Slice written() const { return at(places_.written); }  ///< [rows] PoolSlots
  Slice listed() const { return at(places_.listed); }
  /// Of a layer: [rows][dims / 2] pairs, and [rows] scales of queries, if they differ.
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

  /// Which of the following a layer has.
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
  /// Offsets.
  struct Places {
    std::size_t move_count = 0, moves = 0, wanted = 0, embedded = 0, layer_embedded = 0, words = 0,
                written = 0, listed = 0;
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
  std::vector<std::byte> bytes_;  // of the pass, as they go to the device
  std::vector<float> position_;
  std::unique_ptr<DeviceMemory> memory_;
  OwnRows own_rows_;
  std::size_t times_moved_ = 0;  // of memory_
  std::size_t told_ = 0;         // how often all had moved when plan() last told
};

}  // namespace spectr
