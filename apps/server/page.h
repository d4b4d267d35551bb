#pragma once

#include <span>
#include <string_view>

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

}  // namespace spectr::server
