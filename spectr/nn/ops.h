#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/block_pool.h"
#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The numbers that a pass works on: a matrix each, a row for every row of the pass. In brackets: columns,
/// of attention; and what they hold for other mixers.
enum class Buffer : std::uint8_t {
  stream,        ///< [width], the residual stream
  normed,        ///< [width], what a block reads
  query,         ///< [heads · head_dim]; queries, keys and values before the convolution; b, c, u
  key,           ///< [kv_heads · head_dim]; beta x
  value,         ///< [kv_heads · head_dim]; alpha x
  attended,      ///< [heads · head_dim], the mixer's output before its last product
  branch,        ///< [width], what a block adds to the stream
  gate,          ///< [ffn width], and gates of mixers
  up,            ///< [ffn width], and what latent attention reads and gives
  beside,        ///< [width], of a dense block beside experts
  layer_inputs,  ///< [layers · d], see LayerEmbeddingSpec
  features,      ///< [input width], what a drafter reads, see PassBatch::features
  pair,          ///< [token width + state width], see PairSpec
  factors,       ///< [2 · kernel · groups], see BlockConvolutionSpec
};
inline constexpr std::size_t buffer_count = 14;

/// Columns of a buffer: of the widest layer.
std::size_t cols_of(const ModelSpec& spec, Buffer buffer);

/// A matrix product's output.
struct LinearTarget {
  const LinearSpec* linear;
  Buffer out;
};

/// What a product is for, for those who measure.
enum class LinearRole : std::uint8_t {
  query_key_value,
  attention_output,
  gate_up,
  down,
  layer_inputs,
  drafter_input
};

/// What a backend can do.
struct Caps {
  std::string_view backend;         ///< "cpu"
  std::vector<TensorType> formats;  ///< of matrices
  std::vector<KvTypes> kv_types;    ///< of keys and values
  std::vector<Feature> features;
  bool row_invariant;  ///< a row's logits depend on its own sequence alone, bit for bit
};

/// All features.
std::vector<Feature> all_features();

/// The caps of a backend on the host, which computes any format and keeps any type.
Caps host_caps(std::string_view backend, std::vector<Feature> features = {});

/// Whether a backend can compute a model. Error: a format, a type of keys or values, or a feature that it
/// lacks, with the file, and the tensor or the key and its value.
Result<void> check(const ModelSpec& spec, const KvTypes& kv, const Caps& caps);

/// The logits of a pass's wanted rows, in their order. They are the backend's, which uses their memory again
/// once nobody holds them.
class PassLogits {
 public:
  virtual ~PassLogits() = default;
  /// Requires: i less than the rows wanted.
  virtual Logits row(std::size_t i) const = 0;
  /// The features of a row of the pass, [ModelSpec::feature_width()]. Requires: a model with taps.
  virtual std::span<const float> features(std::size_t /*row*/) const { return {}; }
  /// Whether there is a HeldLogits of them. What its holders did with them comes before a false.
  bool is_held() const { return holders_.load(std::memory_order_acquire) > 0; }

 private:
  friend class HeldLogits;
  mutable std::atomic<int> holders_ = 0;
};

/// A hold on the logits of a pass, or none. Holders may be on any threads. The backend must outlive it.
class HeldLogits {
 public:
  HeldLogits() = default;
  explicit HeldLogits(const PassLogits& logits) : logits_(&logits) {
    logits_->holders_.fetch_add(1, std::memory_order_relaxed);
  }
  HeldLogits(const HeldLogits& other) : logits_(other.logits_) {
    if (logits_ != nullptr) logits_->holders_.fetch_add(1, std::memory_order_relaxed);
  }
  HeldLogits(HeldLogits&& other) noexcept : logits_(std::exchange(other.logits_, nullptr)) {}
  HeldLogits& operator=(HeldLogits other) noexcept {
    std::swap(logits_, other.logits_);
    return *this;
  }
  ~HeldLogits() {
    if (logits_ != nullptr) logits_->holders_.fetch_sub(1, std::memory_order_release);
  }

  /// Requires: it holds some; i less than the rows wanted.
  Logits row(std::size_t i) const { return logits_->row(i); }
  /// See PassLogits::features().
  std::span<const float> features(std::size_t row) const { return logits_->features(row); }

 private:
  const PassLogits* logits_ = nullptr;
};

/// What a backend implements for one model: its weights, the keys and values of sequences, and some ten
/// coarse operations on the rows of a pass, coarse enough that a backend can fuse what belongs together. The
/// graph calls them in a model's order, between begin() and finish(). Used by one thread at a time. No
/// operation refuses: what a backend lacks is refused at load (Caps).
class Ops {
 public:
  virtual ~Ops() = default;

  // Loading.

  /// Takes a weight from its bytes as they stand in the file; packs them as it likes. Returns whether
  /// `bytes` must stay as long as this; false: it has a copy, and they need no memory. Throws std::bad_alloc.
  virtual bool upload(WeightId id, std::span<const std::byte> bytes) = 0;
  /// Memory for passes of so many rows; what there is stays. Throws std::bad_alloc, and all is as before
  /// then.
  virtual void reserve(std::size_t rows) = 0;
  /// Bytes of a weight that a pass reads.
  virtual std::size_t bytes_of(WeightId id) const = 0;

  // Keys and values of sequences.

  /// For a sequence of such a size. Throws std::bad_alloc where there is no memory for it.
  virtual CacheId open_cache(const CacheSize& size) = 0;
  virtual void close_cache(CacheId cache) = 0;
  /// Not during a pass. Throws std::bad_alloc where there is no memory for the copy.
  virtual void copy_cache(const CacheCopy& copy) = 0;
  /// Bytes of the keys and values of such a sequence.
  virtual std::size_t cache_bytes(const CacheSize& size) const = 0;
  /// Returns the memory of the cache's first `slots` slots and of these frames, the same ranges for caches of
  /// the same size; it is valid until the cache is closed, and may be read and written while no pass has rows
  /// of the cache. None: it is not in the memory of this process. Throws std::bad_alloc.
  virtual std::optional<CacheMemory> cache_memory(CacheId /*cache*/, std::size_t /*slots*/,
                                                  std::span<const std::int32_t> /*frames*/) const {
    return std::nullopt;
  }
  /// Bytes that caches hold now of keys and values, without windows and states; 0 where that is not known.
  virtual std::size_t used_cache_bytes() const { return 0; }

  // For backends that have cache_memory():

  /// Returns the blocks of the cache's first `slots` slots in layers without a window, none where there are
  /// no such layers. Full ones are shared: the cache goes on with a copy of one before it writes to it. A
  /// last one that is not full is a copy. Throws std::bad_alloc.
  virtual std::vector<SharedBlock> share_blocks(CacheId /*cache*/, std::size_t /*slots*/) { return {}; }
  /// The cache's first `slots` slots become those of such blocks, in the same way, and all others are
  /// dropped. Throws std::bad_alloc; nothing has changed then.
  virtual void take_blocks(CacheId /*cache*/, std::span<const SharedBlock> /*blocks*/,
                           std::size_t /*slots*/) {}

  // A pass.

  /// The moves of `batch` are done first, also where memory is missing for the rest: then it throws
  /// std::bad_alloc. The batch must live until finish(). Requires: 1 ≤ rows ≤ those reserved.
  virtual void begin(const PassBatch& batch) = 0;
  /// stream = embedding of the rows' tokens (and positions).
  virtual void embed(const EmbedSpec& spec) = 0;
  /// out = norm(in).
  virtual void norm(const NormSpec& spec, Buffer in, Buffer out) = 0;
  /// buffer *= factor.
  virtual void scale(Buffer buffer, float factor) = 0;
  /// to += from. Requires: both have the stream's width.
  virtual void add(Buffer to, Buffer from) = 0;
  /// stream += branch; normed = norm(stream).
  virtual void add_norm(const NormSpec& spec) = 0;
  /// buffer *= σ(gate): the buffer's first `cols` numbers by as many of Buffer::gate, or, where `gates` is 1,
  /// all by one.
  virtual void gate(Buffer buffer, std::size_t cols, std::size_t gates) = 0;
  /// Products of one input.
  virtual void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) = 0;
  /// Queries and keys are normalized and turned, keys and values go to the cache, attended = attention.
  virtual void attention(std::size_t layer) = 0;
  /// Of a layer with latent attention: query = the queries in Buffer::up, through keys_up; and behind the
  /// attention: up = attended through values_up.
  virtual void latent_queries(std::size_t layer) = 0;
  virtual void latent_values(std::size_t layer) = 0;
  /// attended = norm(o) ⊙ silu(z) of a DeltaNetSpec, z in Buffer::gate.
  virtual void delta_net(std::size_t layer) = 0;
  /// attended = what a ShortConvolutionSpec has before its last product.
  virtual void short_convolution(std::size_t layer) = 0;
  /// gate = act(gate) ⊙ up, or up = act(up) without a gate.
  virtual void activate(const DenseSpec& spec) = 0;
  /// branch = the mixture of experts of `in`. Returns how many experts some row has chosen: those whose
  /// weights were read.
  virtual std::size_t experts(const ExpertsSpec& spec, Buffer in) = 0;
  /// layer_inputs = (√d · the rows' embeddings + norm(layer_inputs)) / √2.
  virtual void layer_inputs(const LayerEmbeddingSpec& spec) = 0;
  /// gate = act(gate) ⊙ the layer's part of layer_inputs.
  virtual void layer_input(std::size_t layer) = 0;

  // What Feature::taps, drafter_inputs and block_convolutions need. Backends without these features have none
  // of the operations.

  /// Hands out the columns of a buffer, [rows, width], as columns `first` and following of the features.
  virtual void tap(Buffer from, std::size_t first);
  /// Buffer::features = the batch's features.
  virtual void load_features();
  /// pair = [token_norm(embedding of the row's token); state_norm(state)]; without a projection, stream is
  /// the state, or with normed_residual state_norm(state).
  virtual void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state);
  /// Keys are normalized and rotated, keys and values go to the cache; nothing attends.
  virtual void store_keys(std::size_t layer);
  /// One side of a BlockConvolutionSpec, in place, with the factors in Buffer::factors. Rows of one cache are
  /// one block.
  virtual void convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer);

  /// The numbers [rows, width] of Buffer::stream, branch or beside as they are between two operations, to be
  /// read and changed: for passes that several processes share. Empty where they are not floats of the host.
  virtual std::span<float> numbers(Buffer) { return {}; }
  /// The logits of the wanted rows: those of the head's output (or, with a shortlist, of all tokens). Memory
  /// for them grows with the rows that passes want, not before.
  virtual void head(const HeadSpec& spec) = 0;
  /// Ends the pass and gives its logits. Error: of the device.
  virtual Result<HeldLogits> finish() = 0;

  /// Whether passes can still be run, asked between two of them. Error: of a device or a process that does
  /// not answer any more.
  virtual Result<void> check_alive() { return {}; }
};

/// Where models are computed: a kind of device with its settings. A backend is one folder that implements
/// this and Ops, and one row in engine/backends.cc.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Caps& caps() const = 0;
  /// Where models are computed, in words that tell one place from another: "CUDA0 (NVIDIA H100 80GB HBM3)".
  /// Empty: by this process alone, on the processor.
  virtual std::string place() const { return ""; }
  /// Takes out of a model what others compute, where several processes share it: the rest is what check(),
  /// make() and passes are about. Error: a model that cannot be shared so, by the key that says why.
  virtual Result<void> take_part(ModelSpec&) const { return {}; }
  /// The operations for a model, which must outlive them. Requires: check(spec, kv, caps()). Error: a device
  /// that cannot be used.
  virtual Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const = 0;
};

}  // namespace spectr
