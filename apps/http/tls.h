#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "apps/http/channel.h"
#include "spectr/base/result.h"

namespace spectr::http {

/// Turns sockets into encrypted channels (TLS 1.2 and 1.3). It must outlive them.
class Tls {
 public:
  virtual ~Tls() = default;
  virtual std::unique_ptr<Channel> channel(boost::asio::ip::tcp::socket socket) = 0;
};

/// With the certificate, those that vouch for it behind it, and its key, in PEM. Error: they cannot be read
/// or do not belong together; or the program was built without TLS.
Result<std::unique_ptr<Tls>> load_tls(const std::string& certificate_file, const std::string& key_file);

}  // namespace spectr::http
