#pragma once

#include <string>

#include "apps/server/service.h"
#include "apps/support/json.h"

namespace spectr::server {

/// {"input": text, tokens or a list of these} → embeddings, as OpenAI's /v1/embeddings has them. A body with
/// "content" instead is answered as native_embeddings() does. Throw ApiError.
Json openai_embeddings(Service& service, const std::string& body);
/// Returns embeddings in the form of llama.cpp's /embedding: a list, each a list of vectors.
Json native_embeddings(Service& service, const std::string& body);

/// {"query", "documents"} → how relevant each document is, the most relevant first; with "texts" instead of
/// "documents" in the form of Text Embeddings Inference. Throws ApiError.
Json rerank(Service& service, const std::string& body);

}  // namespace spectr::server
