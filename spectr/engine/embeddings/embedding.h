#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/nn/transformer.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// How the final states of an input's tokens are reduced to its embedding.
struct EmbeddingOptions {
  /// None: as in the model's file; else the mean of an encoder's states, or the last state of a decoder.
  std::optional<Pooling> pooling = {};
  /// The norm by which a pooled vector is divided, as in llama.cpp's embd_normalize: −1: none; 0: the maximum
  /// magnitude over 32,760; p ≥ 1: the p-norm. Scores are not divided.
  int norm = 2;
};

/// Returns the pooling that `options` select. Fails if it is by rank and the model has no classifier.
Result<Pooling> pooling_of(const ModelSpec& spec, const EmbeddingOptions& options);

/// Computes the embedding of a sequence: one vector or, without pooling, the state of each token. Fails as
/// pooling_of() and Transformer::embed(), or if there is not enough memory.
Result<std::vector<std::vector<float>>> embed(const Transformer& model, std::span<const Token> tokens,
                                              const EmbeddingOptions& options = {});

/// Divides a vector by its norm, see EmbeddingOptions::norm. A zero vector is unchanged.
void normalize(std::span<float> vector, int norm);

/// The sequence of a query and a document.
struct TextPair {
  std::vector<Token> tokens;
  std::size_t second;  ///< beginning of the document, the second segment
};

/// Returns the sequence "[CLS] query [SEP] document [SEP]"; both are plain text.
TextPair join(const Tokenizer& tokenizer, std::string_view query, std::string_view document);

/// Fails if a model cannot rank documents: it has no classifier, or one with several scores.
Result<void> check_ranks(const ModelSpec& spec);

/// Computes the relevance of the document for the query: the score of the model's classifier. Fails as
/// check_ranks() and Transformer::embed(), or if there is not enough memory.
Result<float> relevance(const Transformer& model, const TextPair& pair);

}  // namespace spectr
