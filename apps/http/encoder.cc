#include "apps/http/encoder.h"

#include "apps/http/response_head.h"
#include "spectr/base/check.h"

namespace spectr::http {

void Encoder::encode_head(Response& head, std::optional<std::size_t> length) {
  SPECTR_CHECK(!begun());
  status_ = head.status;
  for (auto& [name, value] : head.notes) note(name, std::move(value));
  for (const auto& [name, value] : fields_) head.headers.add(name, value);
  const bool streams = !length;
  client_.last = client_.last || (streams && client_.http10);
  bytes_ +=
      response_head(head, {.length = length, .chunked = streams && !client_.http10, .close = client_.last});
}

void Encoder::send(Response whole) {
  encode_head(whole, whole.body.size());
  ended_ = true;
  if (!client_.wants_head_only) bytes_ += whole.body;
}

void Encoder::begin(Response head, std::string filler) {
  encode_head(head, std::nullopt);
  filler_ = std::move(filler);
}

void Encoder::write(std::string_view piece) {
  SPECTR_CHECK(begun() && !ended_);
  if (piece.empty() || client_.wants_head_only) return;
  if (client_.http10) {
    bytes_ += piece;
  } else {
    bytes_ += chunk(piece);
  }
}

void Encoder::end() {
  SPECTR_CHECK(begun() && !ended_);
  ended_ = true;
  if (!client_.http10 && !client_.wants_head_only) bytes_ += last_chunk;
}

std::string Encoder::keepalive() const {
  if (ended_ || client_.wants_head_only) return {};
  if (!begun()) return client_.http10 ? std::string() : std::string(interim_response);
  if (filler_.empty()) return {};
  return client_.http10 ? filler_ : chunk(filler_);
}

}  // namespace spectr::http
