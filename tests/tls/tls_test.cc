#include "apps/http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "apps/http/http_server.h"
#include "tests/http/test_handler.h"
#include "tests/server/raw_connection.h"
#include "tests/tls/certificate.h"

namespace spectr::http {
namespace {

namespace asio = boost::asio;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Encrypted : public testing::Test {
 protected:
  std::unique_ptr<HttpServer> listen() {
    HttpOptions options{.port = 0};
    options.certificate_file = certificate.certificate_file();
    options.key_file = certificate.key_file();
    options.limits.head = std::chrono::milliseconds(300);
    return HttpServer::listen(options, handler).value();
  }

  /// Sends these bytes and returns the whole reply. The client trusts only this certificate.
  std::string ask(int port, const std::string& request) {
    asio::io_context loop;
    asio::ssl::context trust(asio::ssl::context::tls_client);
    trust.load_verify_file(certificate.certificate_file());
    trust.set_verify_mode(asio::ssl::verify_peer);
    asio::ssl::stream<asio::ip::tcp::socket> stream(loop, trust);
    stream.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)});
    stream.handshake(asio::ssl::stream_base::client);
    asio::write(stream, asio::buffer(request));
    std::string answer;
    boost::system::error_code end;
    asio::read(stream, asio::dynamic_buffer(answer), end);
    EXPECT_EQ(end, asio::error::eof) << "an end that is told, not cut off: " << end.message();
    return answer;
  }

  TemporaryCertificate certificate;
  TestHandler handler;
};

TEST_F(Encrypted, RequestsAreAnswered) {
  const auto server = listen();
  const std::string body(300'000, 'x');
  const std::string answer =
      ask(server->port(), "POST /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, EndsWith("POST /a [" + body + "]"));
}

TEST_F(Encrypted, StreamsAreSentInPieces) {
  handler.script->pieces = {"a", "bc"};
  handler.script->complete = true;
  const auto server = listen();
  EXPECT_THAT(ask(server->port(), "GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              EndsWith("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"));
}

TEST_F(Encrypted, ClientsThatAreNotAreLeft) {
  const auto server = listen();
  server::RawConnection plain(server->port()), silent(server->port());
  plain.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(plain.receive_all(), testing::Not(HasSubstr("200")));
  EXPECT_EQ(silent.receive_all(), "") << "when the time for a head is over";
}

TEST(Tls, WantsACertificateAndItsOwnKey) {
  const TemporaryCertificate one, other;
  EXPECT_TRUE(load_tls(one.certificate_file(), one.key_file()));
  const auto none = load_tls("/nowhere.pem", one.key_file());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, StartsWith("/nowhere.pem: "));
  EXPECT_THAT(load_tls(one.certificate_file(), one.certificate_file()).error().message,
              StartsWith(one.certificate_file()));
  EXPECT_THAT(load_tls(one.certificate_file(), other.key_file()).error().message,
              StartsWith(other.key_file()));
}

}  // namespace
}  // namespace spectr::http
