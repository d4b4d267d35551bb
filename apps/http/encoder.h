#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "apps/http/handler.h"

namespace spectr::http {

/// Turns what a reply says into the bytes of an answer.
class Encoder final : public Sink {
 public:
  struct Client {
    bool wants_head_only = false;  ///< HEAD
    bool http10 = false;           ///< knows no chunks: a stream ends with its connection
    bool last = false;             ///< the connection is closed behind the answer
  };
  /// `fields`: beside its own, of whatever answer.
  Encoder(const Client& client, Headers fields) : client_(client), fields_(std::move(fields)) {}

  void send(Response whole) override;
  void begin(Response head, std::string filler) override;
  void write(std::string_view piece) override;
  void end() override;
  void note(std::string name, Note value) override {
    notes_.insert_or_assign(std::move(name), std::move(value));
  }

  /// What is to be sent by now.
  std::string take() { return std::exchange(bytes_, {}); }
  /// Bytes that only show that the connection lives; none where there are none.
  std::string sign_of_life() const;
  bool begun() const { return status_ != 0; }
  bool ended() const { return ended_; }
  /// Whether the connection must be closed behind the answer.
  bool closes() const { return client_.last; }
  int status() const { return status_; }
  Notes take_notes() { return std::exchange(notes_, {}); }

 private:
  void tell_head(Response& head, std::optional<std::size_t> length);

  Client client_;
  Headers fields_;
  std::string bytes_;
  std::string filler_;
  int status_ = 0;
  Notes notes_;
  bool ended_ = false;
};

}  // namespace spectr::http
