#include "apps/server/embeddings.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/server/requests/engine_request.h"
#include "apps/server/requests/fields.h"
#include "apps/support/json_input.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_inputs = 2048;  // per request, as in OpenAI's API

/// Encodes the little-endian bytes of 32-bit floats in base64.
std::string base64_of(std::span<const float> numbers) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  bytes.reserve(4 * numbers.size());
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
  }
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? digits[group >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

/// Concatenates the texts of parts [{"type": "text", "text"}, …].
std::string text_of_parts(const JsonInput& content) {
  if (!content.is_array())
    throw ApiError::invalid(fmt::format("'input.content' must be a list of parts, got {}", shown(content)));
  std::string text;
  for (const JsonInput& part : content) {
    std::optional<std::string> type, more;
    if (part.is_object()) {
      Fields fields(part, "input.content.");
      type = fields.string("type");
      more = fields.string("text");
    }
    if (type != "text" || !more) {
      throw ApiError::invalid(
          fmt::format("'input.content' must hold parts of type text, got {}", shown(part)));
    }
    text += *more;
  }
  return text;
}

/// Returns the tokens of one input: a prompt, or an object with "prompt_string" or "content".
std::vector<Token> read_input(const JsonInput& input, const Tokenizer& tokenizer) {
  constexpr bool ends = true;
  if (!input.is_object()) return read_prompt(input, tokenizer, "input", ends);
  Fields fields(input, "input.");
  if (const auto text = fields.string("prompt_string")) return read_prompt(*text, tokenizer, "input", ends);
  if (const JsonInput* content = fields.any("content"))
    return read_prompt(text_of_parts(*content), tokenizer, "input", ends);
  throw ApiError::invalid(fmt::format("'input' must be text or tokens, got {}", shown(input)));
}

std::vector<std::vector<Token>> read_inputs(const JsonInput& input, const Tokenizer& tokenizer) {
  if (!input.is_array()) return {read_input(input, tokenizer)};
  if (input.empty()) throw ApiError::invalid("'input' must not be empty");
  if (is_one_prompt(input)) return {read_input(input, tokenizer)};
  if (input.size() > max_inputs) {
    throw ApiError::invalid(
        fmt::format("'input' may be a list of {} inputs, got {}", max_inputs, input.size()));
  }
  std::vector<std::vector<Token>> all;
  for (const JsonInput& one : input) all.push_back(read_input(one, tokenizer));
  return all;
}

/// A request for embeddings and the form of its answer.
struct EmbeddingRequest {
  std::vector<std::vector<Token>> inputs;
  EmbeddingOptions options;
  bool base64 = false;
  bool native = false;  ///< answered in llama.cpp's form
  std::string model;

  static EmbeddingRequest read(const Service& service, const std::string& body, bool native);
};

EmbeddingRequest EmbeddingRequest::read(const Service& service, const std::string& body, bool native) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  const EngineModels& models = service.models();
  EmbeddingRequest request{
      .inputs = {}, .options = service.options().embeddings, .native = native, .model = {}};
  const JsonInput* input = fields.any("input");
  const JsonInput* content = fields.any("content");
  if (input == nullptr && content == nullptr) throw ApiError::invalid("'input' is missing");
  if (input == nullptr) request.native = true;
  const auto format = fields.string("encoding_format").value_or("float");
  if (format != "float" && format != "base64")
    throw ApiError::invalid(fmt::format("'encoding_format' must be float or base64, got {}", quote(format)));
  request.base64 = format == "base64";
  constexpr std::int64_t max_norm = 1024;
  request.options.norm =
      static_cast<int>(fields.integer("embd_normalize", -1, max_norm).value_or(request.options.norm));
  const std::size_t width = models.target->spec().width;
  if (const auto dimensions = fields.count("dimensions", 1);
      dimensions && !std::cmp_equal(*dimensions, width)) {
    throw ApiError::not_supported(
        fmt::format("'dimensions' is {}, but embeddings of this model have {}: they are not shortened",
                    *dimensions, width));
  }
  request.model = fields.string("model").value_or(service.name());
  fields.string("user");  // ignored
  fields.ignore_others();
  request.inputs = read_inputs(input != nullptr ? *input : *content, *models.tokenizer);
  return request;
}

/// Throws ApiError if the deadline has passed.
void check_deadline(const ModelRequest& asked) {
  if (ModelRequest::Clock::now() <= asked.deadline()) return;
  throw ApiError::timeout(
      fmt::format("the request took longer than {} s", asked.model->options().timeout.count()));
}

Json token_usage(std::size_t tokens) {
  return {{"prompt_tokens", tokens}, {"total_tokens", tokens}};
}

Json openai_embedding(const std::vector<float>& vector, std::size_t index, bool base64) {
  Json entry = {{"object", "embedding"}, {"index", index}};
  if (base64) {
    entry["embedding"] = base64_of(vector);
    entry["encoding_format"] = "base64";
  } else {
    entry["embedding"] = vector;
  }
  return entry;
}

Json answer(const ModelRequest& asked, bool native) {
  Service& service = *asked.model;
  const auto request = EmbeddingRequest::read(service, asked.request.body, native);
  const Transformer& model = *service.open_engine().models().target;
  const Pooling pooling = valid(pooling_of(model.spec(), request.options));
  if (pooling == Pooling::none && !request.native)
    throw ApiError::invalid("pooling is none: embeddings of tokens are served by /embeddings only");
  Json data = Json::array();
  std::size_t tokens = 0;
  for (const std::vector<Token>& input : request.inputs) {
    check_deadline(asked);
    const auto vectors = valid(embed(model, input, request.options));
    tokens += input.size();
    const std::size_t index = data.size();
    if (request.native) {
      data.push_back({{"index", index}, {"embedding", vectors}});
    } else {
      data.push_back(openai_embedding(vectors.front(), index, request.base64));
    }
  }
  if (request.native) return data;
  return {{"object", "list"}, {"data", data}, {"model", request.model}, {"usage", token_usage(tokens)}};
}

/// Reads the documents of a rerank request.
std::vector<std::string> read_documents(const JsonInput* list, std::string_view name) {
  const bool good = list != nullptr && list->is_array() && !list->empty() &&
                    std::ranges::all_of(*list, [](const JsonInput& one) { return one.is_string(); });
  if (!good) {
    throw ApiError::invalid(fmt::format("'{}' must be a list of texts, not empty, got {}", name,
                                        list == nullptr ? "none" : shown(*list)));
  }
  if (list->size() > max_inputs) {
    throw ApiError::invalid(
        fmt::format("'{}' may have {} documents, got {}", name, max_inputs, list->size()));
  }
  return list->get<std::vector<std::string>>();
}

}  // namespace

Json openai_embeddings(const ModelRequest& asked) {
  return answer(asked, false);
}

Json native_embeddings(const ModelRequest& asked) {
  return answer(asked, true);
}

Json rerank(const ModelRequest& asked) {
  Service& service = *asked.model;
  const EngineModels& models = service.open_engine().models();
  if (const auto ranks = check_ranks(models.target->spec()); !ranks) throw ApiError::of(ranks.error());
  const JsonInput json = parse_body(asked.request.body);
  Fields fields(json);
  const auto query = fields.string("query");
  if (!query) throw ApiError::invalid("'query' is missing");
  const JsonInput* documents_field = fields.any("documents");
  const JsonInput* texts_field = fields.any("texts");
  const bool inference = documents_field == nullptr && texts_field != nullptr;
  const std::vector<std::string> documents =
      inference ? read_documents(texts_field, "texts") : read_documents(documents_field, "documents");
  const auto top = static_cast<std::size_t>(
      fields.count("top_n", 0).value_or(static_cast<std::int64_t>(documents.size())));
  const bool with_text = fields.boolean(inference ? "return_text" : "return_documents").value_or(false);
  const std::string model = fields.string("model").value_or(service.name());
  fields.ignore_others();

  std::vector<std::pair<float, std::size_t>> ranks;  // score and index of a document
  std::size_t tokens = 0;
  for (const std::string& document : documents) {
    check_deadline(asked);
    const TextPair pair = join(*models.tokenizer, *query, document);
    tokens += pair.tokens.size();
    ranks.emplace_back(valid(relevance(*models.target, pair)), ranks.size());
  }
  std::ranges::stable_sort(ranks, [](const auto& a, const auto& b) { return a.first > b.first; });
  ranks.resize(std::min(top, ranks.size()));
  Json results = Json::array();
  for (const auto& [score, index] : ranks) {
    Json result = {{"index", index}, {inference ? "score" : "relevance_score", score}};
    if (with_text && inference) result["text"] = documents[index];
    if (with_text && !inference) result["document"] = {{"text", documents[index]}};
    results.push_back(std::move(result));
  }
  if (inference) return results;
  return {{"object", "list"}, {"model", model}, {"usage", token_usage(tokens)}, {"results", results}};
}

}  // namespace spectr::server
