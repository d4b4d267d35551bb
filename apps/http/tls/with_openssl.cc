#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <utility>

#include "apps/http/socket_channel.h"
#include "apps/http/tls.h"

namespace spectr::http {
namespace {

namespace ssl = boost::asio::ssl;
using Socket = boost::asio::ip::tcp::socket;

class TlsChannel final : public SocketChannel<ssl::stream<Socket>> {
 public:
  using SocketChannel::SocketChannel;

  void open(Done done) override {
    stream().async_handshake(
        ssl::stream_base::server,
        [done = std::move(done)](const boost::system::error_code& code) { done(code, 0); });
  }
  /// Sends close_notify and waits for the peer's. Fails if the peer sends data instead.
  void finish(Done done) override {
    stream().async_shutdown(
        [done = std::move(done)](const boost::system::error_code& code) { done(code, 0); });
  }
};

class OpenSsl final : public Tls {
 public:
  ssl::context context{ssl::context::tls_server};

  std::unique_ptr<Channel> channel(Socket socket) override {
    return std::make_unique<TlsChannel>(std::move(socket), context);
  }
};

}  // namespace

Result<std::unique_ptr<Tls>> load_tls(const std::string& certificate_file, const std::string& key_file) {
  auto tls = std::make_unique<OpenSsl>();
  boost::system::error_code failed;
  tls->context.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                               ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                           failed);
  if (failed) return error("TLS 1.2 cannot be had: {}", failed.message());
  tls->context.use_certificate_chain_file(certificate_file, failed);
  if (failed) return error("{}: is no certificate in PEM: {}", certificate_file, failed.message());
  tls->context.use_private_key_file(key_file, ssl::context::pem, failed);
  if (failed) return error("{}: is no key in PEM for {}: {}", key_file, certificate_file, failed.message());
  return tls;
}

}  // namespace spectr::http
