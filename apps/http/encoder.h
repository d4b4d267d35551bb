#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "apps/http/handler.h"

namespace spectr::http {

/// Encodes a reply as the bytes of an HTTP response.
class Encoder final : public Sink {
 public:
  struct Client {
    bool wants_head_only = false;  ///< the method is HEAD
    bool http10 = false;           ///< no chunked encoding: closing the connection ends a stream
    bool last = false;             ///< the connection is closed after the answer
  };
  /// `fields` are added to the answer's own.
  Encoder(const Client& client, Headers fields) : client_(client), fields_(std::move(fields)) {}

  void send(Response whole) override;
  void begin(Response head, std::string filler) override;
  void write(std::string_view piece) override;
  void end() override;
  void note(std::string name, Note value) override {
    notes_.insert_or_assign(std::move(name), std::move(value));
  }

  /// Returns the encoded bytes that have not been taken yet.
  std::string take() { return std::exchange(bytes_, {}); }
  /// Returns a keepalive for the current state of the answer; empty if there is none.
  std::string keepalive() const;
  bool begun() const { return status_ != 0; }
  bool ended() const { return ended_; }
  /// Returns true if the connection must be closed after the answer.
  bool closes() const { return client_.last; }
  int status() const { return status_; }
  Notes take_notes() { return std::exchange(notes_, {}); }

 private:
  void encode_head(Response& head, std::optional<std::size_t> length);

  Client client_;
  Headers fields_;
  std::string bytes_;
  std::string filler_;
  int status_ = 0;
  Notes notes_;
  bool ended_ = false;
};

}  // namespace spectr::http
