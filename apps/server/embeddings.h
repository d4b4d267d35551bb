#pragma once

#include "apps/server/models/model_request.h"
#include "apps/support/json.h"

namespace spectr::server {

/// Answers {"input": text, tokens or a list of these} with embeddings in the form of OpenAI's /v1/embeddings.
/// A body with "content" instead is answered as by native_embeddings(). Throw ApiError.
Json openai_embeddings(const ModelRequest& asked);
/// Returns embeddings in the form of llama.cpp's /embedding: a list, each a list of vectors.
Json native_embeddings(const ModelRequest& asked);

/// Answers {"query", "documents"} with the relevance of each document in descending order. A body with
/// "texts" instead is answered in the form of Text Embeddings Inference. Throws ApiError.
Json rerank(const ModelRequest& asked);

}  // namespace spectr::server
