#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apps/http/message.h"

namespace spectr::http {

/// The framing of a response on its connection.
struct Framing {
  std::optional<std::size_t> length = {};  ///< length of the body; none: streamed
  bool chunked = false;                    ///< chunked encoding; otherwise closing ends a stream
  bool close = false;                      ///< the connection is closed after it
};

/// Returns the status line and the fields, including the empty line that ends them.
std::string response_head(const Response& response, const Framing& framing);

/// Encodes a piece of a stream as a chunk. Requires: not empty, since an empty chunk ends the stream.
std::string chunk(std::string_view piece);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Interim response that tells a waiting client to go on (RFC 9110, section 15.2).
inline constexpr std::string_view interim_response = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace spectr::http
