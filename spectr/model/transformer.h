#pragma once

#include <cstddef>
#include <memory>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/model/gguf.h"
#include "spectr/model/language_model.h"
#include "spectr/model/model_config.h"

namespace spectr {

class PassProfile;
struct Weights;

/// A transformer from a GGUF file. Immutable once loaded: any number of sessions may share it, one pass at a
/// time (they share the thread pool).
class Transformer final : public LanguageModel {
 public:
  /// Reads configuration and weights, repacking quantised matrices. The pool must outlive the model. Error:
  /// a configuration or weights that cannot be used, or no memory for the weights.
  static Result<std::unique_ptr<Transformer>> load(Gguf file, ThreadPool& pool);
  ~Transformer() override;

  const Gguf& file() const { return file_; }
  const ModelConfig& config() const { return config_; }
  const Weights& weights() const { return *weights_; }
  ThreadPool& pool() const { return pool_; }

  /// Bytes of weights that a pass reads.
  std::size_t weight_bytes() const;
  /// Products of numbers that a token costs in matrices: one for each of those weights.
  std::size_t products_per_token() const;

  std::size_t vocabulary() const override { return config_.vocabulary; }
  std::size_t context() const override { return config_.context; }
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override {
    return start(context, nodes, nullptr);
  }
  /// The same; `profile`, where there is one, is told what the session's passes spend and must outlive it.
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes, PassProfile* profile) const;

 private:
  Transformer(Gguf file, ModelConfig config, std::unique_ptr<Weights> weights, ThreadPool& pool);

  Gguf file_;  // weights refer to its bytes
  ModelConfig config_;
  std::unique_ptr<Weights> weights_;
  ThreadPool& pool_;
};

}  // namespace spectr
