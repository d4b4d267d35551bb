#include "apps/http/http_server.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "apps/http/connection.h"
#include "apps/http/socket_channel.h"
#include "apps/http/tls.h"
#include "apps/http/workers.h"

namespace spectr::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr int backlog = 512;
constexpr std::chrono::milliseconds after_failure{10};  // wait after a failed accept
constexpr std::size_t own_files = 64;                   // file descriptors reserved for other uses

std::size_t max_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 256;
  return std::clamp<std::size_t>(files.rlim_cur, 2 * own_files, 16384 + own_files) - own_files;
}

/// Fails if the host name has no address or none of its addresses can be listened on.
Result<void> listen_on(tcp::acceptor& acceptor, asio::io_context& context, const HttpOptions& options) {
  if (options.host.empty()) return error("the host to listen on is empty");
  Code failed;
  const auto found = tcp::resolver(context).resolve(options.host, std::to_string(options.port),
                                                    tcp::resolver::passive, failed);
  if (failed) return error(ErrorCode::io, "'{}' cannot be listened on: {}", options.host, failed.message());
  for (const auto& address : found) {
    Code ignored;
    std::ignore = acceptor.close(ignored);
    std::ignore = acceptor.open(address.endpoint().protocol(), failed);
    if (failed) continue;
    // Not SO_REUSEPORT: with it, a second server could take the same port and half of the connections.
    std::ignore = acceptor.set_option(tcp::acceptor::reuse_address(true), ignored);
    std::ignore = acceptor.bind(address.endpoint(), failed);
    if (!failed) std::ignore = acceptor.listen(backlog, failed);
    if (!failed) return {};
  }
  return error(ErrorCode::io, "{}:{} cannot be listened on: {}", options.host, options.port,
               failed.message());
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const Handler& handler, const Limits& limits, std::size_t threads)
      : loop_(handler, limits), workers_(threads) {
    loop_.work = [this](std::function<void()> task) { workers_.enqueue(std::move(task)); };
    loop_.brief = [this](std::function<void()> task) { brief_.enqueue(std::move(task)); };
    loop_.closed = [this](Connection& connection) { forget(connection); };
  }
  ~Impl() { finish(std::chrono::steady_clock::now()); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> listen(const HttpOptions& options) {
    if (!options.certificate_file.empty() || !options.key_file.empty()) {
      SPECTR_TRY(tls_, load_tls(options.certificate_file, options.key_file));
    }
    SPECTR_TRY_VOID(listen_on(acceptor_, loop_.context, options));
    port_ = acceptor_.local_endpoint().port();
    accept();
    thread_ = std::thread([this] { run(); });
    return {};
  }

  int port() const { return port_; }
  bool listening() const { return !ended_; }

  void drain() {
    loop_.mailbox->post([this] { loop_.draining = true; });
  }

  void finish(std::chrono::steady_clock::time_point end) {
    if (!thread_.joinable()) return;
    loop_.mailbox->post([this] {
      loop_.finishing = true;
      Code ignored;
      std::ignore = acceptor_.close(ignored);
      for_each_connection(&Connection::finish);
    });
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, end, [this] { return refuses_ && open_ == 0; });
    }
    loop_.mailbox->post([this] { for_each_connection(&Connection::close); });
    workers_.finish();
    brief_.finish();
    loop_.mailbox->close();
    asio::post(loop_.context, [this] { loop_.context.stop(); });
    thread_.join();
    ended_ = true;
  }

 private:
  void run() {
    for (;;) {
      try {
        loop_.context.run();
        return;
      } catch (const std::exception&) {
        continue;  // out of memory for one connection; the others continue
      }
    }
  }

  void accept() {
    acceptor_.async_accept([this](const Code& code, tcp::socket socket) {
      if (!code) {
        try {
          take(std::move(socket));
        } catch (const std::exception&) {
          make_room();  // out of memory for this connection
        }
      } else if (code == asio::error::operation_aborted || code == asio::error::bad_descriptor ||
                 code == asio::error::invalid_argument || code == asio::error::not_socket) {
        return stop_accepting();  // this socket accepts no more connections
      } else {
        // Out of memory or file descriptors, or the client has aborted the connection.
        make_room();
        again_.expires_after(after_failure);
        return again_.async_wait([this](const Code& cancelled) {
          if (!cancelled) accept();
        });
      }
      accept();
    });
  }

  void take(tcp::socket socket) {
    if (connections_.size() >= max_connections_) make_room();
    if (connections_.size() >= max_connections_) return;  // all connections are busy
    Code ignored;
    std::ignore = socket.set_option(tcp::no_delay(true), ignored);
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    auto channel = tls_ ? tls_->channel(std::move(socket)) : tcp_channel(std::move(socket));
    const auto connection = std::make_shared<Connection>(std::move(channel), loop_);
    connections_.emplace(connection.get(), connection);
    count();
    connection->start();
  }

  /// Closes the connection that has been waiting longest for a request.
  void make_room() {
    std::shared_ptr<Connection> oldest;
    for (const auto& [key, connection] : connections_) {
      const auto since = connection->waiting_since();
      if (since && (!oldest || *since < *oldest->waiting_since())) oldest = connection;
    }
    if (oldest) oldest->close();
  }

  void forget(Connection& connection) {
    connections_.erase(&connection);
    count();
  }

  void for_each_connection(void (Connection::*act)()) {
    const auto all = connections_;  // a copy: `act` may remove connections
    for (const auto& [key, connection] : all) (connection.get()->*act)();
  }

  void count() {
    const std::lock_guard lock(mutex_);
    open_ = connections_.size();
    changed_.notify_all();
  }

  void stop_accepting() {
    ended_ = true;
    const std::lock_guard lock(mutex_);
    refuses_ = true;
    changed_.notify_all();
  }

  // Used by the loop's thread only.
  Loop loop_;
  std::unique_ptr<Tls> tls_;
  tcp::acceptor acceptor_{loop_.context};
  asio::steady_timer again_{loop_.context};
  const std::size_t max_connections_ = max_connections();
  std::map<Connection*, std::shared_ptr<Connection>> connections_;
  int port_ = 0;

  // Shared by both threads.
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t open_ = 0;
  bool refuses_ = false;

  Workers workers_, brief_{1};
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpOptions& options,
                                                       const Handler& handler) try {
  auto impl = std::make_unique<Impl>(handler, options.limits, options.threads);
  SPECTR_TRY_VOID(impl->listen(options));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
} catch (const std::system_error& failure) {
  return error(ErrorCode::out_of_memory, "there are no threads for requests: {}", failure.what());
}

int HttpServer::port() const {
  return impl_->port();
}
bool HttpServer::listening() const {
  return impl_->listening();
}
void HttpServer::drain() {
  impl_->drain();
}
void HttpServer::finish(std::chrono::steady_clock::time_point end) {
  impl_->finish(end);
}

}  // namespace spectr::http
