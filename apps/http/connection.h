#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/http/channel.h"
#include "apps/http/encoder.h"
#include "apps/http/handler.h"
#include "apps/http/loop.h"
#include "apps/http/request_reader.h"

namespace spectr::http {

/// Reads the requests of one client in order, has them handled, writes the answers, and enforces all
/// timeouts. Confined to the thread of its loop, which it never blocks. Requests are handled and replies
/// advanced in other threads, one at a time.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(std::unique_ptr<Channel> channel, Loop& loop);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Closes after the current response, or immediately if idle.
  void finish();
  void close();
  /// Returns when it began to wait for a complete head, or nothing if it is not waiting for one.
  std::optional<Clock::time_point> waiting_since() const;

 private:
  enum class State {
    opening,
    idle,  ///< between requests
    head,  ///< reading a head
    body,
    answering,  ///< handling or refusing a request
    leaving,    ///< the last answer has been sent
    closed,
  };

  // Input.
  void next_request();
  void read_more();
  void use_input();
  void head_read();
  void begin_body();
  bool body_fits();

  // Requests and answers.
  void handle();
  void begin_answer();
  void refuse(Response answer);
  void answered(Answer answer);
  void woken();
  void advance();
  void advanced(bool failed);
  void answer_done();
  /// Requires: no other thread uses the encoder.
  void note(bool complete);
  void leave();

  // Output.
  void send(std::string_view bytes);
  void write_some();
  void written();

  // Timeouts.
  void arm(Clock::duration after);
  void expired();
  void poll_client();

  Loop& loop_;
  std::unique_ptr<Channel> channel_;
  boost::asio::steady_timer timer_;
  State state_ = State::opening;
  Clock::time_point since_ = Clock::now();  // start of idling; later, arrival of the head's first byte

  std::array<char, 8192> received_;
  std::string input_;  // received and not yet parsed
  std::unique_ptr<RequestReader> reader_;
  std::size_t body_bytes_ = 0;  // its share of Loop::body_bytes
  bool reading_ = false;
  int requests_ = 0;
  bool last_ = false;  // no request is read after this one

  std::unique_ptr<Encoder> encoder_;  // owned by a handler thread while handling_ or advancing_
  std::shared_ptr<Reply> reply_;
  bool handling_ = false;
  bool advancing_ = false;
  bool advance_due_ = false;

  std::string sending_, unsent_;
  std::size_t sent_ = 0;  // bytes of sending_ that have been written
  bool writing_ = false;
  Clock::time_point stalled_, too_slow_;  // deadlines of the current write
  Clock::time_point last_sent_;
  Clock::duration probe_interval_{};  // time until the next probe of a silent client
};

}  // namespace spectr::http
