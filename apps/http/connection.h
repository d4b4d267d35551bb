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

/// A connection: reads requests one after the other, has them handled, writes the answers, and gives whatever
/// a client does its time. It belongs to its loop, whose thread it never holds up; a request is handled, and
/// its reply advanced, in other threads, one at a time.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(std::unique_ptr<Channel> channel, Loop& loop);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Ends behind the answer that is being given, or else at once.
  void finish();
  void close();
  /// Since when it has been waiting for the rest of a head; none: it has something better to do.
  std::optional<Clock::time_point> waiting_since() const;

 private:
  enum class State {
    opening,
    idle,  ///< between requests
    head,  ///< reads one
    body,
    answering,  ///< has a request, or a refusal to tell
    leaving,    ///< has given its last answer
    closed,
  };

  // Reading.
  void next_request();
  void read_more();
  void use_input();
  void head_read();
  void begin_body();
  bool body_fits();

  // Answering.
  void handle();
  void begin_answer();
  void refuse(Response answer);
  void answered(Answer answer);
  void woken();
  void advance();
  void advanced(bool failed);
  void answer_done();
  /// Requires: no other thread has the encoder.
  void note(bool complete);
  void leave();

  // Writing.
  void send(std::string bytes);
  void write_some();
  void written();

  // Time.
  void arm(Clock::duration after);
  void expired();
  void look_after_client();

  Loop& loop_;
  std::unique_ptr<Channel> channel_;
  boost::asio::steady_timer timer_;
  State state_ = State::opening;
  Clock::time_point since_ = Clock::now();  // it waits for a head; then since when that has been coming

  std::array<char, 8192> received_;
  std::string input_;  // what has come and is not used
  std::unique_ptr<RequestReader> reader_;
  std::size_t body_bytes_ = 0;  // of this connection among the loop's
  bool reading_ = false;
  int requests_ = 0;
  bool last_ = false;  // nothing is read behind this request

  std::unique_ptr<Encoder> encoder_;  // the handler's threads' while handling_ or advancing_
  std::shared_ptr<Reply> reply_;
  bool handling_ = false;
  bool advancing_ = false;
  bool news_ = false;  // advance() is called for

  std::string sending_, unsent_;
  std::size_t sent_ = 0;  // of what is being sent
  bool writing_ = false;
  Clock::time_point stalled_, too_slow_;  // when writing takes too long
  Clock::time_point last_sent_;
  Clock::duration question_{};  // time until a silent client is asked whether it is there
};

}  // namespace spectr::http
