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

/// How the final states of an input's tokens become its embedding.
struct EmbeddingOptions {
  /// None: as the model's file says; else the mean of an encoder's states, or the last state of a decoder.
  std::optional<Pooling> pooling = {};
  /// The norm by which a pooled vector is divided, as llama.cpp's embd_normalize: −1: none; 0: the largest
  /// number over 32,760; p ≥ 1: the p-norm. Scores are left as they are.
  int norm = 2;
};

/// Returns the pooling that `options` ask of a model. Fails if it is by rank and the model has no classifier.
Result<Pooling> pooling_of(const ModelSpec& spec, const EmbeddingOptions& options);

/// Computes the embedding of a sequence: one vector, or without pooling the state of each token. Fails as
/// pooling_of() and Transformer::embed() do, or if memory is missing.
Result<std::vector<std::vector<float>>> embed(const Transformer& model, std::span<const Token> tokens,
                                              const EmbeddingOptions& options = {});

/// Divides a vector by its norm, see EmbeddingOptions::norm. A vector of zeros stays as it is.
void normalize(std::span<float> vector, int norm);

/// The sequence of a query and a document.
struct TextPair {
  std::vector<Token> tokens;
  std::size_t second;  ///< where the document begins, the second segment
};

/// Returns the sequence "[CLS] query [SEP] document [SEP]"; both are plain text.
TextPair join(const Tokenizer& tokenizer, std::string_view query, std::string_view document);

/// Fails if a model cannot rank documents: it has no classifier, or one of several scores.
Result<void> check_ranks(const ModelSpec& spec);

/// Computes how relevant the document is for the query: the score that the model's classifier gives. Fails as
/// check_ranks() and Transformer::embed() do, or if memory is missing.
Result<float> relevance(const Transformer& model, const TextPair& pair);

}  // namespace spectr
