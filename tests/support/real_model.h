#pragma once

#include <memory>
#include <string_view>

#include "spectr/base/thread_pool.h"
#include "spectr/engine/loaded_model.h"

namespace spectr::test {

/// A transformer from the project's own files, with its thread pool and tokenizer.
struct RealModel {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Transformer> transformer;

  const Transformer& operator*() const { return *transformer; }
  const Transformer* operator->() const { return transformer.get(); }

  /// Loads a model by a name for find_data(). Throws if the file is missing or cannot be read.
  static RealModel load(std::string_view name, int threads = 1, const LoadOptions& options = {});
  /// Loads a model without a tokenizer, for tests that pass tokens directly.
  static RealModel load_transformer(std::string_view name, int threads = 1, const KvChoice& kv = {});
};

// The bundled pair, and a pair of two tiny models with 512 tokens.
inline constexpr std::string_view bundled_target = "models/spectr-stories-7m-q8_0.gguf";
inline constexpr std::string_view bundled_draft = "models/spectr-stories-draft-0.6m-q8_0.gguf";
inline constexpr std::string_view tiny_target = "models/stories260K-f32.gguf";
inline constexpr std::string_view tiny_draft = "models/llama2xs-281K-f32.gguf";

}  // namespace spectr::test
