#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "apps/http/message.h"
#include "tests/server/raw_connection.h"

namespace spectr::server {

/// A server's reply.
struct HttpReply {
  int status = -1;  ///< −1 if there is no valid reply
  std::string body = {};
  http::Headers headers = {};
  std::string header(std::string_view name) const { return std::string(headers.get(name)); }
};

/// Decodes a chunked body.
inline std::string without_chunks(std::string_view chunks) {
  std::string body;
  for (;;) {
    const std::size_t line = chunks.find("\r\n");
    if (line == std::string_view::npos) return body;  // cut off
    const std::size_t size = std::stoul(std::string(chunks.substr(0, line)), nullptr, 16);
    if (size == 0) return body;
    body += chunks.substr(line + 2, size);
    chunks.remove_prefix(std::min(chunks.size(), line + 2 + size + 2));
  }
}

/// Parses the reply to one request, after skipping interim responses.
inline HttpReply read_reply(std::string_view all) {
  HttpReply reply;
  for (;;) {
    const std::size_t end = all.find("\r\n\r\n");
    if (end == std::string_view::npos || !all.starts_with("HTTP/1.1 ")) return {};
    reply = {.status = std::stoi(std::string(all.substr(9, 3)))};
    std::string_view head = all.substr(0, end + 2);
    all.remove_prefix(end + 4);
    if (reply.status / 100 == 1) continue;
    for (head.remove_prefix(head.find("\r\n") + 2); !head.empty();
         head.remove_prefix(head.find("\r\n") + 2)) {
      const std::string_view line = head.substr(0, head.find("\r\n"));
      const std::size_t colon = line.find(": ");
      reply.headers.add(std::string(line.substr(0, colon)), std::string(line.substr(colon + 2)));
    }
    const bool chunked = reply.headers.get("Transfer-Encoding") == "chunked";
    reply.body = chunked ? without_chunks(all) : std::string(all);
    return reply;
  }
}

/// Sends one request over its own connection. Adds the headers Host, Content-Length
/// and Connection if they are missing.
inline HttpReply ask(const std::string& host, int port, const std::string& method, const std::string& path,
                     const http::Headers& headers = {}, const std::string& body = "") {
  RawConnection connection(port, RawConnection::Buffers::usual, host);
  std::string head = method + " " + path + " HTTP/1.1\r\nConnection: close\r\n";
  if (!headers.has("Host")) head += "Host: " + host + "\r\n";
  if (method == "POST" || !body.empty()) head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  for (const auto& [name, value] : headers) head.append(name).append(": ").append(value).append("\r\n");
  connection.send(head + "\r\n" + body);
  return read_reply(connection.receive_all());
}

}  // namespace spectr::server
