#include "apps/http/response_head.h"

#include <fmt/format.h>

#include "spectr/base/check.h"

namespace spectr::http {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
  }
  return "";  // the reason phrase is optional
}

}  // namespace

std::string response_head(const Response& response, const Framing& framing) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (framing.length && response.status != 204)
    head += fmt::format("Content-Length: {}\r\n", *framing.length);
  if (framing.chunked) head += "Transfer-Encoding: chunked\r\n";
  head += framing.close ? "Connection: close\r\n" : "Connection: keep-alive\r\n";
  return head + "\r\n";
}

std::string chunk(std::string_view piece) {
  SPECTR_CHECK(!piece.empty());
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

}  // namespace spectr::http
