#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/gguf.h"
#include "spectr/lm/language_model.h"
#include "spectr/nn/kv_slots.h"
#include "spectr/nn/ops.h"
#include "spectr/nn/rope_choice.h"
#include "spectr/nn/slimming.h"
#include "spectr/nn/weights.h"

namespace spectr {

class PassProfile;

/// Returns the default types of a model's keys and values: F32 if all matrices that compute them are F32,
/// else F16.
KvTypes default_kv(const ModelSpec& spec);

/// The states of a target that a trained drafter reads, and the setting that names them, for messages:
/// "drafter.gguf: eagle3.target_layers". The layer of a normed tap is always the last one.
struct TapSettings {
  std::vector<TapSpec> taps = {};
  std::string source = {};
};

/// How a model is loaded.
struct LoadSettings {
  KvChoice kv = {};               ///< types of keys and values; by default default_kv()
  Slimming slimming = {};         ///< conversion of the weights
  ThreadPool* pool = nullptr;     ///< shares the conversion, if set
  RopeChoice rope = {};           ///< see read_model_spec()
  LoadingProgress progress = {};  ///< reports the weights loaded so far
  TapSettings taps = {};          ///< states that passes return for a drafter
  bool embeds = false;            ///< passes return final states, for Transformer::embed()
};

/// Fails if a model is an encoder, which generates no text.
Result<void> check_generates(const ModelSpec& spec);

/// A transformer from a GGUF file on a backend. Any number of sessions may share it, from any threads; their
/// passes are serialized.
class Transformer final : public LanguageModel {
 public:
  /// Reads the file's ModelSpec and uploads its weights. Error: a model that is not understood or that the
  /// backend cannot compute, weights that cannot be converted as asked, or no memory for them.
  static Result<std::unique_ptr<Transformer>> load(Gguf file, std::shared_ptr<const Backend> backend,
                                                   const LoadSettings& settings = {});
  ~Transformer() override;

  const Gguf& file() const { return file_; }
  const ModelSpec& spec() const { return *spec_; }
  const KvTypes& kv() const { return kv_; }
  const Caps& caps() const { return backend_->caps(); }
  /// Returns the device, see Backend::place().
  std::string place() const { return backend_->place(); }

  /// Returns the bytes of weights that a pass of one row reads, counting only the experts that a row uses.
  std::size_t weight_bytes() const;
  /// Returns the multiply-accumulates of a token: one for each of those weights.
  std::size_t macs_per_token() const;

  std::string_view name() const override { return spec_->name; }
  std::size_t vocabulary() const override { return spec_->vocabulary; }
  std::size_t context() const override { return context_; }
  /// Allows sequences of `context` tokens if the model was trained for fewer. Positions are extrapolated as
  /// the file specifies, whatever the quality. Must be called before anything else uses the model.
  /// Error: the model has no such positions.
  Result<void> extend_context(std::size_t context);
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override {
    return start(context, nodes, nullptr);
  }
  /// Starts a session. `profile` (may be null) records its passes and must outlive it.
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes, PassProfile* profile) const;
  /// Computes the final state of each token of a sequence, [text, width]: the last layer's output after the
  /// head's norm. In encoders with two segments, tokens from `second` on belong to the second one. Fails if
  /// the sequence is empty, exceeds the context or has unknown tokens, or if the model is no encoder and was
  /// loaded without LoadSettings::embeds. Throws std::bad_alloc.
  Result<std::vector<float>> embed(std::span<const Token> text, std::size_t second) const;
  Result<std::vector<float>> embed(std::span<const Token> text) const { return embed(text, text.size()); }
  /// Returns the maximum bytes of such a session's keys, values and states, allocated as its sequence grows.
  std::size_t session_bytes(std::size_t context, std::size_t nodes) const {
    return ops_->cache_bytes(cache_size(context, nodes));
  }
  /// Returns the bytes of keys and values in use by sessions and saved sequences; 0 if unknown.
  std::size_t used_bytes() const {
    const std::lock_guard lock(mutex_);
    return ops_->used_cache_bytes();
  }
  std::size_t piece() const override { return KvSlots::text_rows; }
  std::size_t score_together(std::span<Scoring> scorings) const override;
  /// Makes a drafter's operations read this model's caches, see Ops::read_caches_of().
  bool share_caches(Ops& drafter) const { return drafter.read_caches_of(*ops_); }
  /// Runs a pass of such a drafter, between this model's passes; see run_pass().
  Result<HeldLogits> run_drafter(const ModelSpec& drafter, const PassBatch& batch, Ops& ops) const;
  /// Fails if passes can no longer be run, because a device or a process does not respond. While a pass runs,
  /// returns success at once: the pass itself reports such errors.
  Result<void> check_alive() const;
  Result<double> attention_seconds(std::size_t rows, std::size_t depth) const override;

 private:
  friend class TransformerSession;
  struct Planned;

  /// Settings of the whole model, even if the backend computes a part of it, that sessions plan by.
  struct Memory {
    std::size_t shortest_window;  ///< shortest window of the layers; 0: no layer has one
    bool is_recurrent;            ///< some layers keep a state
    bool keeps_all;               ///< layers with a window keep all keys and values
  };
  static Memory memory_of(const ModelSpec& spec, const KvChoice& kv);

  Transformer(Gguf file, std::unique_ptr<const ModelSpec> spec, const KvTypes& kv, const Memory& memory,
              std::shared_ptr<const Backend> backend, std::unique_ptr<Ops> ops);
  /// Returns the size of a session's cache.
  CacheSize cache_size(std::size_t context, std::size_t nodes) const;
  KeptSlots kept_slots(std::size_t context, std::size_t nodes) const;
  bool plan(Scoring& scoring, RecycledVector<Planned>& planned) const;
  Result<HeldLogits> run(std::span<const Planned> planned) const;
  std::size_t pass(std::span<Scoring> scorings) const;
  Result<void> check_text(std::span<const Token> text) const;
  Result<std::vector<float>> encode(std::span<const Token> text, std::size_t second) const;

  Gguf file_;                                   // weights may refer to its bytes
  std::vector<std::vector<std::byte>> copies_;  // or to these
  std::unique_ptr<const ModelSpec> spec_;
  std::size_t context_;  // maximum tokens of a sequence
  KvTypes kv_;
  Memory memory_;
  std::shared_ptr<const Backend> backend_;
  mutable std::mutex mutex_;  // guards the operations and the batch: one pass at a time
  std::unique_ptr<Ops> ops_;
  mutable PassBatch batch_;
};

}  // namespace spectr
