#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace spectr::http {

/// What is known of the other side of a channel.
enum class Peer {
  there,
  silent,  ///< it sends no more; whether it still reads shows when something is sent to it
  gone,
};

/// The bytes between a connection and its client. All of it belongs to one thread; at any time at most one
/// function waits for its end, and one read beside one write. `done` is called by the event loop, later; with
/// an error once the channel is closed.
class Channel {
 public:
  using Done = std::function<void(std::error_code, std::size_t)>;
  virtual ~Channel() = default;

  /// Before anything else.
  virtual void open(Done done) = 0;
  /// Reads at least one byte.
  virtual void read(std::span<char> to, Done done) = 0;
  /// Writes at least one byte. `from` must stay until then.
  virtual void write(std::string_view from, Done done) = 0;
  /// Says that nothing more comes, and takes what the client still sends until it ends too: a connection that
  /// is closed over unread bytes is reset, and the client may lose the answer.
  virtual void finish(Done done) = 0;
  virtual void close() = 0;

  virtual Peer peer() = 0;
  /// The other side's address.
  virtual std::string client() = 0;
};

}  // namespace spectr::http
