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

/// What a model's keys and values are stored as where nobody says: F32 where all matrices that make them are,
/// else F16.
KvTypes default_kv(const ModelSpec& spec);

/// The states of a target that a trained drafter reads, and where its file says so, for messages:
/// "drafter.gguf: eagle3.target_layers".
struct TapSettings {
  std::vector<TapSpec> taps = {};
  std::string source = {};
};

/// How a model is loaded.
struct LoadSettings {
  KvChoice kv = {};               ///< what keys and values are stored as; by default default_kv()
  Slimming slimming = {};         ///< how the weights change on the way
  ThreadPool* pool = nullptr;     ///< shares that work, where there is one
  RopeChoice rope = {};           ///< see read_model_spec()
  LoadingProgress progress = {};  ///< told of the weights
  TapSettings taps = {};          ///< what passes hand out for a drafter
  bool embeds = false;            ///< passes hand out final states, for Transformer::embed()
};

/// Fails if a model is an encoder, which generates no text.
Result<void> check_generates(const ModelSpec& spec);

/// A transformer from a GGUF file on a backend. Any number of sessions may share it, from any threads: their
/// passes follow one another.
class Transformer final : public LanguageModel {
 public:
  /// Reads the file's ModelSpec and uploads its weights. Error: a model that is not understood or that the
  /// backend cannot compute, weights that cannot be changed so, or no memory for them.
  static Result<std::unique_ptr<Transformer>> load(Gguf file, std::shared_ptr<const Backend> backend,
                                                   const LoadSettings& settings = {});
  ~Transformer() override;

  const Gguf& file() const { return file_; }
  const ModelSpec& spec() const { return *spec_; }
  const KvTypes& kv() const { return kv_; }
  const Caps& caps() const { return backend_->caps(); }
  /// Where it is computed, see Backend::place().
  std::string place() const { return backend_->place(); }

  /// Bytes of weights that a pass of one row reads: of experts, those that a row has.
  std::size_t weight_bytes() const;
  /// Multiplications that a token costs in matrices: one for each of those weights.
  std::size_t macs_per_token() const;

  std::string_view name() const override { return spec_->name; }
  std::size_t vocabulary() const override { return spec_->vocabulary; }
  std::size_t context() const override { return context_; }
  /// Lets texts have so many tokens, where the model was trained for fewer: positions go on as its file says,
  /// whatever it makes of them. To be called before anything else has started with it.
  /// Error: it has no such positions.
  Result<void> extend_context(std::size_t context);
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override {
    return start(context, nodes, nullptr);
  }
  /// The same; `profile`, where there is one, is told what the session's passes spend and must outlive it.
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes, PassProfile* profile) const;
  /// Computes the final state of each token of a sequence, [text, width]: the last layer's output behind the
  /// head's norm. The tokens from `second` on are of the second segment, of encoders that have two. Fails if
  /// the sequence is empty, exceeds the context or has unknown tokens, or if the model was loaded without
  /// LoadSettings::embeds and is no encoder. Throws std::bad_alloc.
  Result<std::vector<float>> embed(std::span<const Token> text, std::size_t second) const;
  Result<std::vector<float>> embed(std::span<const Token> text) const { return embed(text, text.size()); }
  /// Bytes of keys, values and states that such a session may come to; it takes them as its text grows.
  std::size_t session_bytes(std::size_t context, std::size_t nodes) const {
    return ops_->cache_bytes(cache_size(context, nodes));
  }
  /// Bytes that keys and values take now, of sessions and of what they have saved; 0 where that is not known.
  std::size_t used_bytes() const {
    const std::lock_guard lock(mutex_);
    return ops_->used_cache_bytes();
  }
  std::size_t piece() const override { return KvSlots::text_rows; }
  std::size_t score_together(std::span<Scoring> scorings) const override;
  /// Whether passes can still be run; where one runs, its result says so. Error: of a device or a process
  /// that does not answer any more.
  Result<void> check_alive() const;
  Result<double> attention_seconds(std::size_t rows, std::size_t depth) const override;

 private:
  friend class TransformerSession;
  struct Planned;

  /// What sessions plan by: of all layers, where a backend has taken a part of them.
  struct Memory {
    std::size_t shortest_window;  ///< of the layers; 0: none has one
    bool is_recurrent;            ///< some keep a state
    bool keeps_all;               ///< keys and values of layers with a window
  };
  static Memory memory_of(const ModelSpec& spec, const KvChoice& kv);

  Transformer(Gguf file, std::unique_ptr<const ModelSpec> spec, const KvTypes& kv, const Memory& memory,
              std::shared_ptr<const Backend> backend, std::unique_ptr<Ops> ops);
  /// Of a session's cache.
  CacheSize cache_size(std::size_t context, std::size_t nodes) const;
  KeptSlots kept_slots(std::size_t context, std::size_t nodes) const;
  /// Row `token` of the head's matrix, and its number of the bias, as the file has them.
  void read_head(Token token, OwnWords& out) const;
  bool plan(Scoring& scoring, RecycledVector<Planned>& planned) const;
  Result<HeldLogits> run(std::span<const Planned> planned) const;
  std::size_t pass(std::span<Scoring> scorings) const;
  Result<void> check_text(std::span<const Token> text) const;
  Result<std::vector<float>> encode(std::span<const Token> text, std::size_t second) const;

  Gguf file_;                                   // weights may refer to its bytes
  std::vector<std::vector<std::byte>> copies_;  // or to these
  std::unique_ptr<const ModelSpec> spec_;
  std::size_t context_;  // of a text at most
  KvTypes kv_;
  Memory memory_;
  std::shared_ptr<const Backend> backend_;
  mutable std::mutex mutex_;  // of the operations and the batch: one pass at a time
  std::unique_ptr<Ops> ops_;
  mutable PassBatch batch_;
};

}  // namespace spectr
