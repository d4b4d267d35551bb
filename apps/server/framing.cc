#include "apps/server/framing.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

bool is_length(std::string_view value) {
  return !value.empty() && value.size() < 19 &&
         std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_chunked(std::string_view value) {
  constexpr std::string_view chunked = "chunked";
  return std::ranges::equal(value, chunked, [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

bool HeadLines::take(char c) {
  if ((c == '\n') != (last_ == '\r')) return false;
  last_ = c;
  if (c == '\n') {
    const bool good = first_ || empty_ || colon_;
    first_ = false;
    empty_ = true;
    colon_ = false;
    return good;
  }
  empty_ = empty_ && c == '\r';
  colon_ = colon_ || c == ':';
  return true;
}

void simplify(httplib::Request& request) {
  request.ranges.clear();
  request.headers.erase("Accept-Encoding");
  if (request.get_header_value("Content-Type").starts_with("application/x-www-form-urlencoded")) {
    request.headers.erase("Content-Type");
  }
}

bool leaves_body(const httplib::Request& request) {
  const auto blank = [](const auto& header) {
    return header.first.find_first_of(" \t") != std::string::npos;
  };
  if (std::ranges::any_of(request.headers, blank)) {
    throw ApiError::invalid("a header's name has a blank in it");
  }
  const std::size_t lengths = request.get_header_value_count("Content-Length"),
                    encodings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + encodings > 1) {
    throw ApiError::invalid("the body's length is told more than once (Content-Length, Transfer-Encoding)");
  }
  const std::string length = request.get_header_value("Content-Length");
  if (lengths == 1 && !is_length(length)) {
    throw ApiError::invalid("Content-Length must be a number");
  }
  if (encodings == 1 && !is_chunked(request.get_header_value("Transfer-Encoding"))) {
    throw ApiError::invalid("the Transfer-Encoding must be chunked");
  }
  return encodings == 1 || (request.method != "POST" && lengths == 1 && length != "0");
}

void check_length(const httplib::Request& request, std::size_t max) {
  if (request.method != "POST" || request.has_header("Transfer-Encoding")) return;
  if (!request.has_header("Content-Length")) {
    throw ApiError(411, "invalid_request_error", "the body's length is missing (Content-Length)");
  }
  const std::string length = request.get_header_value("Content-Length");
  if (std::stoull(length) > max) {
    throw ApiError(
        413, "invalid_request_error",
        fmt::format("the body is too long: Content-Length is {}, at most {} bytes are read", length, max));
  }
}

}  // namespace spectr::server
