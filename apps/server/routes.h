#pragma once

#include <httplib.h>

#include <span>
#include <string_view>

#include "apps/server/server.h"
#include "apps/server/service.h"

namespace spectr::server {

/// A file of the page at "/", as it is built into the program.
struct PageFile {
  std::string_view path;
  std::string_view type;
  std::string_view content;
};

std::span<const PageFile> page_files();
/// The file of that path; null: there is none.
const PageFile* find_page_file(std::string_view path);

/// Adds every path that the server answers. Service and options must outlive the server.
void add_routes(httplib::Server& http, Service& service, const ServerOptions& options);

}  // namespace spectr::server
