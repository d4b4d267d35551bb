#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apps/http/message.h"

namespace spectr::http {

/// How an answer goes over a connection.
struct Framing {
  std::optional<std::size_t> length = {};  ///< of the body; none: of a stream
  bool chunked = false;                    ///< a stream; else it ends with the connection
  bool close = false;                      ///< it is the last
};

/// Status line and fields, up to the empty line behind them.
std::string response_head(const Response& response, const Framing& framing);

/// A piece of a stream in chunks; requires: it is not empty, which would end the stream.
std::string chunk(std::string_view piece);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Says to a client that waits that it is heard (RFC 9110, section 15.2).
inline constexpr std::string_view interim_response = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace spectr::http
