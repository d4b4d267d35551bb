#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "spectr/engine/embeddings/embedding.h"

namespace spectr::cli {

/// How the states of tokens become embeddings.
struct EmbeddingFlags {
  std::string pooling;  ///< empty: the model's
  long norm = 2;
  bool embeds = false;  ///< the model gives embeddings though it is no encoder
  bool ranks = false;   ///< pooling is by rank

  /// Adds --pooling and --embd-normalize.
  void add(CLI::App& app);
  /// Adds these and --embeddings and --reranking, for the server.
  void add_serving(CLI::App& app);
  EmbeddingOptions options() const;
};

}  // namespace spectr::cli
