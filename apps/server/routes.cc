#include "apps/server/routes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include "apps/server/api_error.h"
#include "apps/server/connection.h"
#include "apps/server/framing.h"
#include "apps/server/generation.h"
#include "apps/server/information.h"
#include "apps/server/metrics.h"
#include "apps/server/origin.h"
#include "apps/server/paths.h"

namespace spectr::server {
namespace {

using httplib::Request;
using httplib::Response;

constexpr auto json_type = "application/json; charset=utf-8";
// Methods that a path is for.
constexpr std::string_view readable = "GET, HEAD, OPTIONS", writable = "OPTIONS, POST";

void answer(Response& response, const Json& json) {
  response.set_content(text_of(json), json_type);
}

void answer(Response& response, const ApiError& failure) {
  response.status = failure.status();
  for (const auto& [name, value] : failure.headers()) response.set_header(name, value);
  answer(response, failure.json());
}

/// What a handler throws becomes the answer.
template <class Handle>
httplib::Server::Handler guarded(Handle handle) {
  return [handle](const Request& request, Response& response) {
    try {
      handle(request, response);
    } catch (const ApiError& failure) {
      answer(response, failure);
    } catch (const std::exception& failure) {
      spdlog::error("{} {:?}: {}", request.method, request.path, failure.what());
      answer(response, ApiError::internal("an error inside the server"));
    }
  };
}

/// Whether everybody may ask for it, key or not.
bool is_public(const Request& request) {
  constexpr std::string_view paths[] = {"/health", "/v1/health", "/models", "/v1/models"};
  return request.method == "OPTIONS" || find_page_file(request.path) != nullptr ||
         request.path.starts_with("/v1/models/") || std::ranges::find(paths, request.path) != std::end(paths);
}

/// The key of "Bearer KEY"; the scheme's name is the same whatever its case (RFC 9110, section 11.1).
std::optional<std::string> bearer_of(const std::string& authorization) {
  constexpr std::string_view scheme = "bearer";
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string::npos || !same_name(authorization.substr(0, blank), scheme)) return std::nullopt;
  return authorization.substr(std::min(authorization.find_first_not_of(' ', blank), authorization.size()));
}

void check_key(const Request& request, const Keys& keys) {
  if (keys.none() || is_public(request)) return;
  const auto bearer = bearer_of(request.get_header_value("Authorization"));
  const bool good =
      (bearer && keys.contains(*bearer)) || keys.contains(request.get_header_value("X-Api-Key"));
  if (!good) throw ApiError::unauthenticated();
}

void close_after_answer() {
  if (Connection* connection = Connection::current()) connection->close_after_answer();
}

/// Before the body is read: whether its end is clear, who asks, for what, how long it is, and in which form.
void check_head(const Request& request, const Origins& origins, const Keys& keys, const Paths& paths) {
  if (leaves_body(request)) close_after_answer();
  origins.check(request);
  check_key(request, keys);
  paths.check(request);
  check_length(request, connection_limits.body_bytes);
  if (request.has_header("Content-Encoding")) {
    throw ApiError(415, "invalid_request_error", "compressed bodies are not read");
  }
  if (request.is_multipart_form_data()) {
    throw ApiError(415, "invalid_request_error", "the body must be JSON");
  }
}

void add_limits(httplib::Server& http, const Origins& origins, const ServerOptions& options,
                std::shared_ptr<const Paths> paths) {
  http.set_payload_max_length(connection_limits.body_bytes);
  const auto refuse = [&options, origins, paths](const Request& request, Response& response) {
    try {
      check_head(request, origins, options.keys, *paths);
      return false;
    } catch (const ApiError& failure) {
      answer(response, failure);
      close_after_answer();
      return true;
    }
  };
  // A client that asks before it sends a body, and every client before its body is read.
  http.set_expect_100_continue_handler([refuse](const Request& request, Response& response) {
    constexpr int go_on = 100;
    return refuse(request, response) ? response.status : go_on;
  });
  http.set_pre_routing_handler([refuse, origins](const Request& request, Response& response) {
    origins.permit(request, response);
    using enum httplib::Server::HandlerResponse;
    return refuse(request, response) ? Handled : Unhandled;
  });
  // What the library answers by itself: a body that turns out too long, a request that is none.
  http.set_error_handler([](const Request&, Response& response) {
    if (!response.body.empty()) return;
    const bool large = response.status == 413;
    answer(response, ApiError(response.status, "invalid_request_error",
                              large ? "the body is too long" : "the request cannot be read"));
    close_after_answer();
  });
  http.set_post_routing_handler([](const Request&, Response& response) {
    const Connection* connection = Connection::current();
    if (connection == nullptr || !connection->closing()) return;
    response.headers.erase("Keep-Alive");
    response.headers.erase("Connection");
    response.set_header("Connection", "close");
  });
  http.set_logger([](const Request& request, const Response& response) {
    spdlog::debug("{} {} {:?} {}", request.remote_addr, request.method, request.path, response.status);
  });
}

void add_page(httplib::Server& http, Paths& paths) {
  for (const PageFile& file : page_files()) {
    paths.add(std::string(file.path), readable);
    http.Get(std::string(file.path), [&file](const Request&, Response& response) {
      response.set_header("Content-Security-Policy",
                          "default-src 'self'; img-src data:; frame-ancestors 'none'");
      response.set_header("X-Content-Type-Options", "nosniff");
      response.set_content(file.content.data(), file.content.size(), std::string(file.type));
    });
  }
}

}  // namespace

void add_routes(httplib::Server& http, Service& service, const ServerOptions& options) {
  const Origins origins(options.host, options.names, options.cors);
  const auto paths = std::make_shared<Paths>();
  add_limits(http, origins, options, paths);
  add_page(http, *paths);

  const auto get = [&](const char* path, auto tell) {
    paths->add(path, readable);
    http.Get(path, guarded([tell](const Request&, Response& response) { tell(response); }));
  };
  const auto post = [&](const char* path, auto handle) {
    paths->add(path, writable);
    http.Post(path, guarded(handle));
  };

  for (const char* path : {"/health", "/v1/health"}) {
    get(path, [&service](Response& response) {
      service.check_open();
      answer(response, Json{{"status", "ok"}});
    });
  }
  for (const char* path : {"/models", "/v1/models"}) {
    get(path, [&service](Response& response) { answer(response, models_json(service)); });
  }
  paths->add("/v1/models/", readable);
  http.Get("/v1/models/(.+)", guarded([&service](const Request& request, Response& response) {
             answer(response, model_json(service, request.matches[1]));
           }));
  get("/props", [&service](Response& response) { answer(response, props_json(service)); });
  get("/slots", [&service](Response& response) { answer(response, slots_json(service)); });
  get("/metrics", [&service, &options](Response& response) {
    if (!options.metrics) throw ApiError::not_supported("start the server with --metrics");
    response.set_content(metrics_of(service.slots()), "text/plain; version=0.0.4; charset=utf-8");
  });

  const auto generates = [&](const char* path, Api api) {
    post(path, [&service, api](const Request& request, Response& response) {
      answer_generation(service, api, request, response);
    });
  };
  generates("/v1/completions", Api::completion);
  generates("/completions", Api::both);
  for (const char* path : {"/v1/chat/completions", "/chat/completions"}) generates(path, Api::chat);
  generates("/completion", Api::native);

  const auto computes = [&](const char* path, Json (*compute)(const Service&, const std::string&)) {
    post(path, [&service, compute](const Request& request, Response& response) {
      answer(response, compute(service, request.body));
    });
  };
  computes("/tokenize", tokenize);
  computes("/detokenize", detokenize);
  computes("/apply-template", apply_template);
  http.Options(".*", [](const Request&, Response& response) { response.status = 204; });
}

}  // namespace spectr::server
