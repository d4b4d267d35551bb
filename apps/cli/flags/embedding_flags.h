#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "spectr/engine/embeddings/embedding.h"

namespace spectr::cli {

/// Settings that determine how token states become embeddings.
struct EmbeddingFlags {
  std::string pooling;  ///< empty: the model's default
  long norm = 2;
  bool embeds = false;  ///< produce embeddings even though the model is no encoder
  bool ranks = false;   ///< pooling is rank

  /// Adds --pooling and --embd-normalize.
  void add(CLI::App& app);
  /// Adds these flags and --embeddings and --reranking, for the server.
  void add_serving(CLI::App& app);
  EmbeddingOptions options() const;
};

}  // namespace spectr::cli
