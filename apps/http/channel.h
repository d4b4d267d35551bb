#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace spectr::http {

/// State of the peer of a channel.
enum class Peer {
  there,
  silent,  ///< it has closed its sending half; whether it still reads shows only on a write
  gone,
};

/// A byte stream between a connection and its client. Confined to one thread. At most one operation may be
/// pending at a time, except that a read and a write may overlap. The event loop calls `done` asynchronously,
/// with an error once the channel is closed.
class Channel {
 public:
  using Done = std::function<void(std::error_code, std::size_t)>;
  virtual ~Channel() = default;

  /// Must be called before any other function.
  virtual void open(Done done) = 0;
  /// Reads at least one byte. `to` must stay valid until `done` is called.
  virtual void read(std::span<char> to, Done done) = 0;
  /// Writes at least one byte. `from` must stay valid until `done` is called.
  virtual void write(std::string_view from, Done done) = 0;
  /// Shuts down sending and discards input until the client closes its end. Closing a connection over unread
  /// bytes would reset it, and the client could lose the answer.
  virtual void finish(Done done) = 0;
  virtual void close() = 0;

  virtual Peer peer() = 0;
  /// Returns the peer's address.
  virtual std::string client() = 0;
};

}  // namespace spectr::http
