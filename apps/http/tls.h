#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "apps/http/channel.h"
#include "spectr/base/result.h"

namespace spectr::http {

/// Wraps sockets in TLS channels (versions 1.2 and 1.3). It must outlive its channels.
class Tls {
 public:
  virtual ~Tls() = default;
  virtual std::unique_ptr<Channel> channel(boost::asio::ip::tcp::socket socket) = 0;
};

/// Loads a certificate, followed by its chain, and its private key from PEM files. Fails if they cannot be
/// read or do not match, or if the program was built without TLS.
Result<std::unique_ptr<Tls>> load_tls(const std::string& certificate_file, const std::string& key_file);

}  // namespace spectr::http
