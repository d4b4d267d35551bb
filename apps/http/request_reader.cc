#include "apps/http/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "apps/http/target.h"

namespace spectr::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;
using Code = beast::error_code;

/// Minimum number of bytes at the end of a chunked body: the last chunk. Boost 1.74 must receive them
/// in one piece.
constexpr std::size_t min_chunked_end = std::string_view("0\r\n\r\n").size();

std::string text_of(beast::string_view view) {
  return {view.data(), view.size()};
}

}  // namespace

/// Writes what Beast's parser finds to a Request. Trailer fields of a chunked body are parsed and dropped: a
/// checked head must not change.
class RequestReader::Parser final : public beast::http::basic_parser<true> {
 public:
  explicit Parser(const Limits& limits) : max_body_(limits.body_bytes) {
    header_limit(static_cast<std::uint32_t>(limits.head_bytes));
    // The server checks body limits itself. Not "none": Boost 1.74 then refuses every length.
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  /// Parses and removes the next part of the request at the front of `bytes`.
  void eat(std::string& bytes, Code& code) {
    bytes.erase(0, put(boost::asio::const_buffer(bytes.data(), bytes.size()), code));
  }

  Request request = {};
  std::string target = {};
  int version = 0;

 private:
  using Verb = beast::http::verb;
  using Name = beast::http::field;
  using View = beast::string_view;

  void on_request_impl(Verb /*known*/, View method, View asked, int of, Code& /*failed*/) override {
    request.method = text_of(method);
    target = text_of(asked);
    version = of;
  }
  void on_response_impl(int /*code*/, View /*reason*/, int /*of*/, Code& /*failed*/) override {}
  void on_field_impl(Name /*known*/, View name, View value, Code& /*failed*/) override {
    if (!is_header_done()) request.headers.add(text_of(name), text_of(value));
  }
  void on_header_impl(Code& /*failed*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, Code& /*failed*/) override {}
  std::size_t on_body_impl(View piece, Code& failed) override {
    if (piece.size() > max_body_ - request.body.size()) {
      failed = error::body_limit;
      return 0;
    }
    request.body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t size, View /*extensions*/, Code& failed) override {
    if (size > max_body_ - request.body.size()) failed = error::body_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, View piece, Code& failed) override {
    return on_body_impl(piece, failed);
  }
  void on_finish_impl(Code& /*failed*/) override {}

  std::size_t max_body_;
};

RequestReader::RequestReader(const Limits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>(limits)) {}

RequestReader::~RequestReader() = default;

RequestReader::Progress RequestReader::fail(int status, std::string message) {
  failure_ = {status, std::move(message)};
  return Progress::failed;
}

bool RequestReader::begun() const {
  return begun_;
}
const RequestReader::Failure& RequestReader::failure() const {
  return failure_;
}
Request& RequestReader::request() {
  return parser_->request;
}
bool RequestReader::http10() const {
  return parser_->version < 11;
}
bool RequestReader::keeps_alive() const {
  return parser_->keep_alive();
}
bool RequestReader::chunked() const {
  return parser_->chunked();
}
bool RequestReader::announces_body() const {
  return !parser_->is_done();
}
bool RequestReader::expects_continue() const {
  return !http10() && same_name(parser_->request.headers.get("Expect"), "100-continue");
}

RequestReader::Progress RequestReader::take(std::string& bytes) {
  if (failure_.status != 0) return Progress::failed;
  return head_returned_ ? take_body(bytes) : take_head(bytes);
}

RequestReader::Progress RequestReader::take_head(std::string& bytes) {
  // A server should ignore empty lines before a request line (RFC 9112, section 2.2).
  while (!begun_ && bytes.starts_with("\r\n")) bytes.erase(0, 2);
  if (bytes.empty() || (!begun_ && bytes == "\r")) return Progress::more;
  begun_ = true;
  Code code;
  do {
    parser_->eat(bytes, code);
  } while (!code && !parser_->is_header_done() && !bytes.empty());
  if (code == error::header_limit)
    return fail(431, "the head is longer than " + std::to_string(limits_.head_bytes) + " bytes");
  if (code == error::bad_version) return fail(505, "the version is neither HTTP/1.1 nor HTTP/1.0");
  if (code && code != error::need_more) return fail(400, "the request cannot be read: " + code.message());
  if (!parser_->is_header_done()) return Progress::more;

  Request& request = parser_->request;
  const std::size_t hosts = request.headers.count("Host");
  if (hosts > 1 || (hosts == 0 && !http10()))
    return fail(400, "a request has one Host, this one has " + std::to_string(hosts));
  const auto target = read_target(parser_->target);
  if (!target) return fail(400, "the target is neither a path nor a URL");
  request.path = target->path;
  request.query = target->query;
  // The authority of a target overrides the Host field (RFC 9112, section 3.2.2).
  if (target->authority) request.headers.set("Host", *target->authority);
  const std::string_view length = request.headers.get("Content-Length");
  if (request.headers.count("Content-Length") > 1 ||
      length.find_first_not_of("0123456789") != std::string_view::npos)
    return fail(400, "the Content-Length must be one number");
  const bool encoded = request.headers.has("Transfer-Encoding");
  if (encoded && (http10() || !same_name(request.headers.get("Transfer-Encoding"), "chunked")))
    return fail(400, "the Transfer-Encoding must be chunked");
  head_returned_ = true;
  return Progress::head;
}

RequestReader::Progress RequestReader::take_body(std::string& bytes) {
  while (!parser_->is_done()) {
    if (bytes.size() < (chunked() ? min_chunked_end : 1)) return Progress::more;
    Code code;
    parser_->eat(bytes, code);
    if (code == error::body_limit) {
      return fail(413,
                  "the body is too long: at most " + std::to_string(limits_.body_bytes) + " bytes are read");
    }
    // Chunk headers are limited to as many bytes as a head.
    if (code == error::need_more && bytes.size() > limits_.head_bytes) code = error::header_limit;
    if (code == error::need_more) return Progress::more;
    if (code) return fail(400, "the body cannot be read: " + code.message());
  }
  return Progress::whole;
}

}  // namespace spectr::http
