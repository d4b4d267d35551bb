#include "apps/http/connection.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/http/response_head.h"

namespace spectr::http {

Connection::Connection(std::unique_ptr<Channel> channel, Loop& loop)
    : loop_(loop), channel_(std::move(channel)), timer_(loop.context) {}

Connection::~Connection() = default;

void Connection::start() {
  arm(loop_.limits.head);
  channel_->open([self = shared_from_this()](std::error_code code, std::size_t) {
    if (self->state_ == State::closed) return;
    if (code) return self->close();
    self->next_request();
  });
}

void Connection::finish() {
  if (state_ == State::answering) {
    last_ = true;
  } else if (state_ != State::leaving) {
    close();
  }
}

void Connection::close() {
  const State before = std::exchange(state_, State::closed);
  if (before == State::closed) return;
  if (before == State::answering && !handling_ && !advancing_) note(false);
  loop_.body_bytes -= std::exchange(body_bytes_, 0);
  reply_.reset();
  timer_.cancel();
  channel_->close();
  loop_.closed(*this);
}

std::optional<Connection::Clock::time_point> Connection::waiting_since() const {
  const bool waits = state_ == State::opening || state_ == State::idle || state_ == State::head;
  return waits ? std::optional(since_) : std::nullopt;
}

void Connection::next_request() {
  if (last_ || loop_.finishing) return leave();
  ++requests_;
  reader_ = std::make_unique<RequestReader>(loop_.limits);
  encoder_.reset();
  input_.shrink_to_fit();
  state_ = State::idle;
  since_ = Clock::now();
  arm(loop_.limits.keep_alive);
  use_input();
}

void Connection::read_more() {
  reading_ = true;
  channel_->read(received_, [self = shared_from_this()](std::error_code code, std::size_t size) {
    self->reading_ = false;
    const State state = self->state_;
    if (state != State::idle && state != State::head && state != State::body) return;
    if (code) return self->close();  // the input is incomplete, and no more will come
    self->input_.append(self->received_.data(), size);
    self->use_input();
  });
}

void Connection::use_input() {
  const RequestReader::Progress progress = reader_->take(input_);
  if (state_ == State::idle && reader_->begun()) {
    state_ = State::head;
    since_ = Clock::now();
    arm(loop_.limits.head);
  }
  switch (progress) {
    case RequestReader::Progress::more:
      if (body_fits()) read_more();
      return;
    case RequestReader::Progress::head:
      return head_read();
    case RequestReader::Progress::whole:
      return handle();
    case RequestReader::Progress::failed:
      return refuse(loop_.handler.failure(reader_->failure().status, reader_->failure().message));
  }
}

/// Runs between the handler's check of the head and the reading of the body.
void Connection::head_read() {
  const Request& request = reader_->request();
  // No request is read after a chunked body: a wrong chunk length must not begin a smuggled request.
  last_ = !reader_->keeps_alive() || reader_->chunked() || requests_ >= loop_.limits.requests;
  if (auto refusal = loop_.handler.refuse(request)) return refuse(*std::move(refusal));
  if (request.method != "POST") {
    last_ = last_ || reader_->announces_body();  // the body is not read
    return handle();
  }
  const bool counted = request.headers.has("Content-Length");
  if (!counted && !reader_->chunked())
    return refuse(loop_.handler.failure(411, "the body's length is missing (Content-Length)"));
  if (counted) {
    const std::string length(request.headers.get("Content-Length"));
    const std::size_t most = loop_.limits.body_bytes;
    if (std::stoull(length) > most) {
      return refuse(loop_.handler.failure(413, "the body is too long: Content-Length is " + length +
                                                   ", at most " + std::to_string(most) + " bytes are read"));
    }
  }
  begin_body();
}

void Connection::begin_body() {
  state_ = State::body;
  arm(loop_.limits.body);
  if (reader_->expects_continue() && input_.empty()) send(interim_response);
  use_input();
}

/// Returns true if the bodies of all connections together fit the limit; otherwise refuses the request.
bool Connection::body_fits() {
  const std::size_t now = reader_->request().body.size();
  loop_.body_bytes += now - std::exchange(body_bytes_, now);
  if (loop_.body_bytes <= loop_.limits.all_bodies) return true;
  refuse(loop_.handler.failure(503, "too many long bodies are being sent, come again later"));
  return false;
}

void Connection::begin_answer() {
  last_ = last_ || loop_.draining || loop_.finishing;
  Request& request = reader_->request();
  request.client = channel_->client();
  const bool is_sent = request.headers.count("X-Request-Id") == 1;
  request.id = request_id(is_sent ? request.headers.get("X-Request-Id") : "");
  Headers fields = loop_.handler.headers(request);
  fields.add("X-Request-Id", request.id);
  const Encoder::Client client{
      .wants_head_only = request.method == "HEAD", .http10 = reader_->http10(), .last = last_};
  encoder_ = std::make_unique<Encoder>(client, std::move(fields));
  state_ = State::answering;
  last_sent_ = Clock::now();
  probe_interval_ = loop_.limits.probe_delay;
  arm(loop_.limits.poll_interval);
}

void Connection::refuse(Response answer) {
  last_ = true;  // the rest of the request is not read
  begin_answer();
  answered(std::move(answer));
}

void Connection::handle() {
  begin_answer();
  Wake wake = [mailbox = loop_.mailbox, weak = weak_from_this()] {
    mailbox->post([weak] {
      if (const auto self = weak.lock()) self->woken();
    });
  };
  // The request stays in its reader until the answer is ready. A worker must not release the last reference
  // to the connection because the timer belongs to the loop.
  handling_ = true;
  const auto& run = loop_.handler.is_brief(reader_->request()) ? loop_.brief : loop_.work;
  run([self = shared_from_this(), wake = std::move(wake)]() mutable {
    auto answer = std::make_shared<Answer>();
    const Handler& handler = self->loop_.handler;
    try {
      *answer = handler.handle(self->reader_->request(), wake);
    } catch (const std::exception&) {
      *answer = handler.failure(500, "an error inside the server");
    }
    auto& loop = self->loop_.context;
    boost::asio::post(loop, [self = std::move(self), answer] { self->answered(std::move(*answer)); });
  });
}

void Connection::answered(Answer answer) {
  handling_ = false;
  if (state_ == State::closed) return note(false);
  loop_.body_bytes -= std::exchange(body_bytes_, 0);
  reader_->request().body = {};
  if (auto* reply = std::get_if<std::unique_ptr<Reply>>(&answer)) {
    reply_ = std::move(*reply);
    advance_due_ = true;
    return advance();
  }
  encoder_->send(std::get<Response>(std::move(answer)));
  send(encoder_->take());
}

void Connection::woken() {
  if (state_ != State::answering) return;
  advance_due_ = true;
  advance();
}

/// Runs only after the client has taken the previous output, so a slow client slows its stream down.
void Connection::advance() {
  if (!advance_due_ || !reply_ || advancing_ || writing_ || encoder_->ended()) return;
  advance_due_ = false;
  advancing_ = true;
  loop_.work([self = shared_from_this(), reply = reply_]() mutable {
    bool failed = false;
    try {
      reply->advance(*self->encoder_);
    } catch (const std::exception&) {
      failed = true;
    }
    reply.reset();
    auto& loop = self->loop_.context;
    boost::asio::post(loop, [self = std::move(self), failed] { self->advanced(failed); });
  });
}

void Connection::advanced(bool failed) {
  advancing_ = false;
  if (state_ == State::closed) return note(false);
  if (failed) {
    if (encoder_->begun()) return close();  // the head has been sent and cannot be replaced
    encoder_->send(loop_.handler.failure(500, "an error inside the server"));
  }
  send(encoder_->take());
}

void Connection::answer_done() {
  note(true);
  reply_.reset();
  advance_due_ = false;
  sending_ = {};
  last_ = last_ || encoder_->closes();
  next_request();
}

void Connection::note(bool complete) {
  Exchange exchange{.duration = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since_),
                    .complete = complete,
                    .notes = encoder_->take_notes()};
  if (encoder_->begun()) exchange.status = encoder_->status();
  loop_.handler.note(reader_->request(), exchange);
}

void Connection::leave() {
  if (reading_) return close();  // a read is pending, so there is no unread input
  state_ = State::leaving;
  arm(loop_.limits.linger);
  channel_->finish([self = shared_from_this()](std::error_code, std::size_t) { self->close(); });
}

void Connection::send(std::string_view bytes) {
  unsent_ += bytes;
  if (writing_) return;
  if (unsent_.empty()) return written();
  sending_ = std::exchange(unsent_, {});
  sent_ = 0;
  writing_ = true;
  const auto now = Clock::now();
  stalled_ = now + loop_.limits.send;
  too_slow_ = stalled_ + std::chrono::seconds(sending_.size() / loop_.limits.min_rate);
  write_some();
}

void Connection::write_some() {
  channel_->write(std::string_view(sending_).substr(sent_),
                  [self = shared_from_this()](std::error_code code, std::size_t size) {
                    if (self->state_ == State::closed) return;
                    if (code) return self->close();
                    self->sent_ += size;
                    self->last_sent_ = Clock::now();
                    self->stalled_ = self->last_sent_ + self->loop_.limits.send;
                    if (self->sent_ < self->sending_.size()) return self->write_some();
                    self->writing_ = false;
                    self->send({});
                  });
}

/// Called when all pending output has been written.
void Connection::written() {
  if (state_ != State::answering || advancing_) return;
  if (encoder_->ended()) return answer_done();
  advance();
}

void Connection::arm(Clock::duration after) {
  timer_.expires_after(after);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& code) {
    // Ignores a wait that expired just before the timer was set again.
    if (code || self->state_ == State::closed || self->timer_.expiry() > Clock::now()) return;
    self->expired();
  });
}

void Connection::expired() {
  switch (state_) {
    case State::head:
    case State::body:
      return refuse(loop_.handler.failure(408, "the request took too long to come"));
    case State::answering:
      return poll_client();
    default:
      return close();
  }
}

void Connection::poll_client() {
  const auto now = Clock::now();
  const Peer peer = channel_->peer();
  if (peer == Peer::gone || (writing_ && now >= std::min(stalled_, too_slow_))) return close();
  if (!writing_ && !advancing_) {
    const auto patience = peer == Peer::silent ? probe_interval_ : loop_.limits.keepalive_interval;
    // A client that still sends is waiting; only a stream needs keepalives for it.
    const bool asks = peer == Peer::silent || encoder_->begun();
    if (asks && now - last_sent_ >= patience) {
      if (peer == Peer::silent)
        probe_interval_ = std::min<Clock::duration>(2 * probe_interval_, loop_.limits.keepalive_interval);
      last_sent_ = now;
      if (std::string bytes = encoder_->keepalive(); !bytes.empty()) send(bytes);
    }
  }
  if (state_ != State::answering) return;
  arm(loop_.limits.poll_interval);
  advance_due_ = true;
  advance();
}

}  // namespace spectr::http
