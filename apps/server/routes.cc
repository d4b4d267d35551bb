#include "apps/server/routes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/http/target.h"
#include "apps/server/answers/format.h"
#include "apps/server/answers/information.h"
#include "apps/server/answers/ollama_information.h"
#include "apps/server/answers/responses.h"
#include "apps/server/api_error.h"
#include "apps/server/embeddings.h"
#include "apps/server/generation.h"
#include "apps/server/metrics.h"
#include "apps/server/slot_actions.h"

namespace spectr::server {
namespace {

using http::Request;
using http::Response;
using http::Wake;

// Allowed methods of paths.
constexpr std::string_view readable = "GET, HEAD, OPTIONS", writable = "OPTIONS, POST";

/// Returns true if the request needs no API key.
bool is_public(const Request& request) {
  constexpr std::string_view paths[] = {"/health",    "/v1/health", "/models",
                                        "/v1/models", "/api/tags",  "/api/version"};
  return request.method == "OPTIONS" || find_page_file(request.path) != nullptr ||
         request.path.starts_with("/v1/models/") || std::ranges::find(paths, request.path) != std::end(paths);
}

/// Returns the key of "Bearer KEY". The scheme is case-insensitive (RFC 9110, section 11.1).
std::optional<std::string_view> bearer_of(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer";
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos || !http::same_name(authorization.substr(0, blank), scheme))
    return std::nullopt;
  return authorization.substr(std::min(authorization.find_first_not_of(' ', blank), authorization.size()));
}

void check_key(const Request& request, const Keys& keys) {
  if (keys.none() || is_public(request)) return;
  const auto bearer = bearer_of(request.headers.get("Authorization"));
  const bool good = (bearer && keys.contains(*bearer)) || keys.contains(request.headers.get("X-Api-Key"));
  if (!good) throw ApiError::unauthenticated();
}

/// Returns true if a Content-Encoding leaves the body unchanged: a possibly empty list of "identity".
bool is_identity(std::string_view encodings) {
  for (std::size_t begin = 0; begin < encodings.size();) {
    const std::size_t end = std::min(encodings.find(',', begin), encodings.size());
    std::string_view one = encodings.substr(begin, end - begin);
    one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
    one = one.substr(0, one.find_last_not_of(" \t") + 1);
    if (!one.empty() && !http::same_name(one, "identity")) return false;
    begin = end + 1;
  }
  return true;
}

void check_form(const Request& request) {
  if (request.method != "POST") return;
  if (!is_identity(request.headers.get("Content-Encoding")))
    throw ApiError(415, "invalid_request_error", "compressed bodies are not read");
  constexpr std::string_view form = "multipart/form-data";
  if (http::same_name(request.headers.get("Content-Type").substr(0, form.size()), form))
    throw ApiError(415, "invalid_request_error", "the body must be JSON");
}

}  // namespace

Routes::Routes(ServedModels& models, Origins origins, Keys keys, bool metrics, LogFormat log)
    : models_(models), origins_(std::move(origins)), keys_(std::move(keys)), log_(log) {
  add_page();
  add_information(metrics);
  add_models();
  add_texts();
}

/// Checks a head before the body is read: origin, key, path, method and form of the body.
std::optional<Response> Routes::refuse(const Request& head) const {
  try {
    origins_.check(head);
    check_key(head, keys_);
    if (head.method != "OPTIONS") paths_.find(head);
    check_form(head);
    return std::nullopt;
  } catch (const ApiError& failure) {
    return response_of(failure);
  }
}

http::Answer Routes::handle(const Request& request, const Wake& wake) const {
  if (request.method == "OPTIONS") return Response{.status = 204};
  try {
    return paths_.find(request)(request, wake);
  } catch (const ApiError& failure) {
    return response_of(failure);
  } catch (const std::exception& failure) {
    spdlog::error("{} {:?}: {}", request.method, request.path, failure.what());
    throw;
  }
}

Response Routes::failure(int status, std::string message) const {
  if (status == 500) return response_of(ApiError::internal(std::move(message)));
  if (status == 503) return response_of(ApiError::unavailable(std::move(message), 1));
  return response_of(ApiError(status, "invalid_request_error", std::move(message)));
}

void Routes::note(const Request& request, const http::Exchange& exchange) const {
  log_.add(request, exchange);
}

void Routes::add_page() {
  for (const PageFile& file : page_files()) {
    paths_.add(std::string(file.path), readable, [&file](const Request&, const Wake&) -> http::Answer {
      Response response = Response::of(file.type, std::string(file.content));
      response.headers.add("Content-Security-Policy",
                           "default-src 'self'; img-src data:; font-src data:; frame-ancestors 'none'");
      response.headers.add("X-Content-Type-Options", "nosniff");
      return response;
    });
  }
}

void Routes::add_for_model(std::string path, std::string_view methods, ModelHandle handle, ErrorForm form) {
  paths_.add(std::move(path), methods,
             [this, handle = std::move(handle), form = std::move(form)](const Request& request,
                                                                        const Wake& wake) -> http::Answer {
               try {
                 return with_model(models_, request, wake, handle, form);
               } catch (const ApiError& failure) {
                 return response_of(failure, form(failure));
               }
             });
}

void Routes::add_information(bool metrics) {
  for (const char* path : {"/health", "/v1/health"}) {
    paths_.add(path, readable, [this](const Request&, const Wake&) -> http::Answer {
      models_.check_ready();
      return response_of({{"status", "ok"}});
    });
  }
  paths_.add("/api/version", readable,
             [](const Request&, const Wake&) -> http::Answer { return response_of(version_json()); });
  add_for_model("/slots", readable, [](const ModelRequest& asked) -> http::Answer {
    return response_of(slots_json(*asked.model));
  });
  const ModelHandle shows_metrics = [this](const ModelRequest& asked) -> http::Answer {
    return Response::of("text/plain; version=0.0.4; charset=utf-8",
                        metrics_of(asked.model->engine().slots(), log_.counts()));
  };
  const ModelHandle refuses_metrics = [](const ModelRequest&) -> http::Answer {
    throw ApiError::not_supported("start the server with --metrics");
  };
  add_for_model("/metrics", readable, metrics ? shows_metrics : refuses_metrics);
}

void Routes::add_models() {
  const auto lists = [&](const char* path, auto list) {
    paths_.add(path, readable, [this, list](const Request& request, const Wake&) -> http::Answer {
      return response_of(list(models_, request));
    });
  };
  for (const char* path : {"/models", "/v1/models"})
    lists(path, [](ServedModels& models, const Request&) { return models_json(models); });
  const std::string below = "/v1/models/";
  lists(below.c_str(), [size = below.size()](ServedModels& models, const Request& request) {
    return model_json(models, request.path.substr(size));
  });
  lists("/api/tags", [](ServedModels& models, const Request&) { return tags_json(models); });
  lists("/api/ps", [](ServedModels& models, const Request&) { return running_json(models); });

  const ModelHandle shows_props = [](const ModelRequest& asked) -> http::Answer {
    return response_of(props_json(*asked.model));
  };
  paths_.add("/props", readable, [this, shows_props](const Request& request, const Wake& wake) {
    const bool names_none = !http::query_value(request.query, "model");
    if (models_.several() && names_none) return http::Answer(response_of(router_json(models_)));
    return with_model(models_, request, wake, shows_props, &ApiError::json);
  });

  const auto changes = [&](const char* path, auto change) {
    paths_.add(path, writable, [this, change](const Request& request, const Wake&) -> http::Answer {
      return response_of(change(models_, request.body));
    });
  };
  changes("/models/load", load_model);
  changes("/models/unload", unload_model);
}

void Routes::add_texts() {
  const auto generates = [&](const char* path, Api api) {
    const ErrorForm form = [api](const ApiError& failure) { return error_json(failure, api); };
    add_for_model(
        path, writable, [api](const ModelRequest& asked) { return begin_generation(asked, api); }, form);
  };
  generates("/v1/messages", Api::messages);
  for (const char* path : {"/v1/responses", "/responses"}) generates(path, Api::responses);
  generates("/v1/completions", Api::completion);
  generates("/completions", Api::both);
  for (const char* path : {"/v1/chat/completions", "/chat/completions"}) generates(path, Api::chat);
  generates("/completion", Api::native);
  generates("/infill", Api::infill);
  generates("/api/chat", Api::ollama_chat);
  generates("/api/generate", Api::ollama_generate);

  const auto answers = [&](const char* path, auto answer) {
    add_for_model(path, writable, [answer](const ModelRequest& asked) -> http::Answer {
      return response_of(answer(asked));
    });
  };
  answers("/slots/", [](const ModelRequest& asked) { return slot_action(*asked.model, asked.request); });
  answers("/v1/embeddings", openai_embeddings);
  for (const char* path : {"/embeddings", "/embedding"}) answers(path, native_embeddings);
  for (const char* path : {"/v1/rerank", "/rerank", "/v1/reranking", "/reranking"}) answers(path, rerank);

  const auto computes = [&](const char* path, auto compute) {
    answers(path, [compute](const ModelRequest& asked) { return compute(*asked.model, asked.request.body); });
  };
  computes("/api/show", show_json);
  computes("/tokenize", tokenize);
  computes("/detokenize", detokenize);
  computes("/apply-template", apply_template);
  for (const char* path : {"/v1/chat/completions/input_tokens", "/chat/completions/input_tokens"})
    computes(path, count_input_tokens);
  computes("/v1/messages/count_tokens", count_message_tokens);
}

}  // namespace spectr::server
