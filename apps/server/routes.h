#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/http/handler.h"
#include "apps/server/access_log.h"
#include "apps/server/keys.h"
#include "apps/server/models/model_request.h"
#include "apps/server/origin.h"
#include "apps/server/paths.h"

namespace spectr::server {

/// A file of the web page at "/", embedded in the program.
struct PageFile {
  std::string_view path;
  std::string_view type;
  std::string_view content;
};

std::span<const PageFile> page_files();
/// Returns the file of a path, or null if there is none.
const PageFile* find_page_file(std::string_view path);

/// Handler of all requests to the server.
class Routes final : public http::Handler {
 public:
  /// The models must outlive it.
  Routes(ServedModels& models, Origins origins, Keys keys, bool metrics, LogFormat log = LogFormat::text);

  std::optional<http::Response> refuse(const http::Request& head) const override;
  /// Only requests with a body can take long.
  bool is_brief(const http::Request& request) const override { return request.method != "POST"; }
  http::Headers headers(const http::Request& request) const override { return origins_.permission(request); }
  http::Answer handle(const http::Request& request, const http::Wake& wake) const override;
  http::Response failure(int status, std::string message) const override;
  void note(const http::Request& request, const http::Exchange& exchange) const override;

 private:
  void add_page();
  void add_information(bool metrics);
  void add_models();
  void add_texts();
  /// Adds a path whose requests are handled with the model that they name.
  void add_for_model(std::string path, std::string_view methods, ModelHandle handle,
                     ErrorForm form = &ApiError::json);

  ServedModels& models_;
  Origins origins_;
  Keys keys_;
  Paths paths_;
  mutable AccessLog log_;
};

}  // namespace spectr::server
