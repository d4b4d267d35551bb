#pragma once

#include <string>

#include "apps/server/service.h"
#include "apps/support/json.h"

namespace spectr::server {

/// Answers {"input": text, tokens or a list of these} with embeddings in the form of OpenAI's /v1/embeddings.
/// A body with "content" instead is answered as by native_embeddings(). Throw ApiError.
Json openai_embeddings(Service& service, const std::string& body);
/// Returns embeddings in the form of llama.cpp's /embedding: a list, each a list of vectors.
Json native_embeddings(Service& service, const std::string& body);

/// Answers {"query", "documents"} with the relevance of each document in descending order. A body with
/// "texts" instead is answered in the form of Text Embeddings Inference. Throws ApiError.
Json rerank(Service& service, const std::string& body);

}  // namespace spectr::server
