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

/// The activations of a pass: one matrix per buffer, with one row per row of the pass. In brackets: the
/// columns, for attention; after a semicolon: the contents for other mixers.
enum class Buffer : std::uint8_t {
  stream,        ///< [width], the residual stream
  normed,        ///< [width], a block's input
  query,         ///< [heads · head_dim]; queries, keys and values before the convolution; b, c, u
  key,           ///< [kv_heads · head_dim]; beta x
  value,         ///< [kv_heads · head_dim]; alpha x
  attended,      ///< [heads · head_dim], the mixer's output before its last product
  branch,        ///< [width], a block's output, to be added to the stream
  gate,          ///< [ffn width], and gates of mixers
  up,            ///< [ffn width], and input and output of latent attention
  beside,        ///< [width], output of a dense block next to experts
  layer_inputs,  ///< [layers · d], see LayerEmbeddingSpec
  features,      ///< [input width], input of a drafter, see PassBatch::features
  pair,          ///< [token width + state width], see PairSpec
  factors,       ///< [2 · kernel · groups], see BlockConvolutionSpec
};
inline constexpr std::size_t buffer_count = 14;

/// Returns the columns of a buffer, for the widest layer.
std::size_t cols_of(const ModelSpec& spec, Buffer buffer);

/// A matrix product's output.
struct LinearTarget {
  const LinearSpec* linear;
  Buffer out;
};

/// Purpose of a product, for profiling.
enum class LinearRole : std::uint8_t {
  query_key_value,
  attention_output,
  gate_up,
  down,
  layer_inputs,
  drafter_input
};

/// Capabilities of a backend.
struct Caps {
  std::string_view backend;         ///< "cpu"
  std::vector<TensorType> formats;  ///< supported formats of matrices
  std::vector<KvTypes> kv_types;    ///< supported types of keys and values
  std::vector<Feature> features;
  bool row_invariant;  ///< a row's logits depend on its own sequence alone, bit for bit
};

/// Returns all features.
std::vector<Feature> all_features();

/// Returns the caps of a host backend, which supports any format and any type of keys and values.
Caps host_caps(std::string_view backend, std::vector<Feature> features = {});

/// Fails if a backend cannot compute a model: because of a format, a type of keys or values, or a feature
/// that it lacks. The error names the file, and the tensor or the key and its value.
Result<void> check(const ModelSpec& spec, const KvTypes& kv, const Caps& caps);

/// The logits of a pass's wanted rows, in their order. The backend owns them and reuses their memory once no
/// HeldLogits refers to them.
class PassLogits {
 public:
  virtual ~PassLogits() = default;
  /// Requires: i < number of wanted rows.
  virtual Logits row(std::size_t i) const = 0;
  /// The features of a row of the pass, [ModelSpec::feature_width()]. Requires: a model with taps.
  virtual std::span<const float> features(std::size_t /*row*/) const { return {}; }
  /// True if a HeldLogits refers to it. If false, every access by former holders happened before this call.
  bool is_held() const { return holders_.load(std::memory_order_acquire) > 0; }

 private:
  friend class HeldLogits;
  mutable std::atomic<int> holders_ = 0;
};

/// Shared ownership of a pass's logits, or none. Holders may be on any threads. The backend must outlive it.
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

  /// Requires: not empty; i < number of wanted rows.
  Logits row(std::size_t i) const { return logits_->row(i); }
  /// See PassLogits::features().
  std::span<const float> features(std::size_t row) const { return logits_->features(row); }

 private:
  const PassLogits* logits_ = nullptr;
};

/// Implemented by a backend for one model: holds its weights and the KV caches of sequences, and computes
/// some twenty coarse operations on the rows of a pass, coarse enough that a backend can fuse related steps.
/// The graph calls them in a model's order, between begin() and finish(). Not thread-safe. Operations do not
/// fail for lack of support: unsupported features are refused at load (Caps).
class Ops {
 public:
  virtual ~Ops() = default;

  // Loading.

  /// Takes a weight's bytes as stored in the file; may repack them. Returns true if `bytes` must outlive this
  /// object; false if it has a copy and the bytes need no memory. Throws std::bad_alloc.
  virtual bool upload(WeightId id, std::span<const std::byte> bytes) = 0;
  /// Allocates memory for passes of `rows` rows; it never shrinks. Throws std::bad_alloc, leaving everything
  /// unchanged.
  virtual void reserve(std::size_t rows) = 0;
  /// Returns the bytes of a weight that a pass reads.
  virtual std::size_t bytes_of(WeightId id) const = 0;

  // Keys and values of sequences.

  /// Opens a cache for a sequence of this size. Throws std::bad_alloc if there is no memory for it.
  virtual CacheId open_cache(const CacheSize& size) = 0;
  virtual void close_cache(CacheId cache) = 0;
  /// Must not be called during a pass. Throws std::bad_alloc if there is no memory for the copy.
  virtual void copy_cache(const CacheCopy& copy) = 0;
  /// Returns the bytes of the keys and values of a cache of this size.
  virtual std::size_t cache_bytes(const CacheSize& size) const = 0;
  /// Returns the memory of the cache's first `slots` slots and of these frames, the same ranges for caches of
  /// the same size. It is valid until the cache is closed and may be accessed while no pass has rows of the
  /// cache. Returns nothing if it is not in this process's memory. Throws std::bad_alloc.
  virtual std::optional<CacheMemory> cache_memory(CacheId /*cache*/, std::size_t /*slots*/,
                                                  std::span<const std::int32_t> /*frames*/) const {
    return std::nullopt;
  }
  /// Returns the bytes of keys and values held now, without windows and states; 0 if unknown.
  virtual std::size_t used_cache_bytes() const { return 0; }

  // For backends that have cache_memory():

  /// Returns the blocks of the cache's first `slots` slots in layers without a window; empty if there are no
  /// such layers. Full blocks are shared copy-on-write. A last block that is not full is copied. Throws
  /// std::bad_alloc.
  virtual std::vector<SharedBlock> share_blocks(CacheId /*cache*/, std::size_t /*slots*/) { return {}; }
  /// Replaces the cache's first `slots` slots by such blocks, shared in the same way, and drops all other
  /// slots. Throws std::bad_alloc, leaving the cache unchanged.
  virtual void take_blocks(CacheId /*cache*/, std::span<const SharedBlock> /*blocks*/,
                           std::size_t /*slots*/) {}

  /// Makes passes read the caches of `target`, the operations of a drafter's target, which must outlive these
  /// (AttentionSpec::kv_of_target). Batches then name caches and slots of `target`, none of whose passes may
  /// run at the same time. Returns false if the two do not share memory.
  virtual bool read_caches_of(const Ops& /*target*/) { return false; }

  // A pass.

  /// Begins a pass and does the moves of `batch`. Throws std::bad_alloc if there is no memory for the rest;
  /// the moves are done even then. The batch must live until finish(). Requires: 1 ≤ rows ≤ reserved rows.
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
  /// buffer *= σ(gate): the first `cols` columns, elementwise by as many columns of Buffer::gate or, if
  /// `gates` is 1, all by a single column.
  virtual void gate(Buffer buffer, std::size_t cols, std::size_t gates) = 0;
  /// Computes several products of one input.
  virtual void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) = 0;
  /// Normalizes and rotates queries and keys, writes keys and values to the cache; attended = attention.
  virtual void attention(std::size_t layer) = 0;
  /// For layers with latent attention. latent_queries(): query = the queries in Buffer::up, through keys_up.
  /// latent_values(), after attention(): up = attended, through values_up.
  virtual void latent_queries(std::size_t layer) = 0;
  virtual void latent_values(std::size_t layer) = 0;
  /// attended = norm(o) ⊙ silu(z) of a DeltaNetSpec, z in Buffer::gate.
  virtual void delta_net(std::size_t layer) = 0;
  /// attended = the input of a ShortConvolutionSpec's last product.
  virtual void short_convolution(std::size_t layer) = 0;
  /// gate = act(gate) ⊙ up, or up = act(up) without a gate.
  virtual void activate(const DenseSpec& spec) = 0;
  /// branch = the mixture of experts of `in`. Returns the number of experts that at least one row has chosen,
  /// whose weights were read.
  virtual std::size_t experts(const ExpertsSpec& spec, Buffer in) = 0;
  /// layer_inputs = (√d · the rows' embeddings + norm(layer_inputs)) / √2.
  virtual void layer_inputs(const LayerEmbeddingSpec& spec) = 0;
  /// gate = act(gate) ⊙ the layer's part of layer_inputs.
  virtual void layer_input(std::size_t layer) = 0;

  // Operations of Feature::taps, drafter_inputs and block_convolutions. Backends without these features do
  // not override them.

  /// Copies a buffer, [rows, cols], to the columns of the pass's features that begin at `first`.
  virtual void tap(Buffer from, std::size_t cols, std::size_t first);
  /// Buffer::features = the batch's features.
  virtual void load_features();
  /// pair = [token_norm(embedding of the row's token); state_norm(state)]; without a projection, stream is
  /// the state, or with normed_residual state_norm(state).
  virtual void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state);
  /// Normalizes and rotates keys, and writes keys and values to the cache, without attention.
  virtual void store_keys(std::size_t layer);
  /// Applies one side of a BlockConvolutionSpec in place, with the factors in Buffer::factors. The rows of
  /// one cache form one block.
  virtual void convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer);

  /// Returns the elements, [rows, width], of Buffer::stream, branch or beside between two operations, to read
  /// and modify when several processes share a pass. Empty if they are not floats in host memory.
  virtual std::span<float> numbers(Buffer) { return {}; }
  /// Computes the logits of the wanted rows: those of the head's output or, with a shortlist, of all tokens.
  /// Their memory grows on demand, with the number of wanted rows.
  virtual void head(const HeadSpec& spec) = 0;
  /// Ends the pass and returns its logits. Error: a device failure.
  virtual Result<HeldLogits> finish() = 0;

  /// Fails if passes can no longer be run, because a device or a process does not respond. Must not be called
  /// during a pass.
  virtual Result<void> check_alive() { return {}; }
};

/// A kind of device with its settings, on which models are computed. A backend is one folder that implements
/// this class and Ops, and one row in engine/backends.cc.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Caps& caps() const = 0;
  /// Returns a description that identifies the device: "CUDA0 (NVIDIA H100 80GB HBM3)". Empty: this process
  /// alone, on the CPU.
  virtual std::string place() const { return ""; }
  /// Removes from a model the part that other processes compute, if several share it; check(), make() and
  /// passes then see the rest. Error: a model that cannot be shared in this way, with the key that says why.
  virtual Result<void> take_part(ModelSpec&) const { return {}; }
  /// Creates the operations of a model, which must outlive them. Requires: check(spec, kv, caps()) succeeds.
  /// Error: a device that cannot be used.
  virtual Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const = 0;
};

}  // namespace spectr
