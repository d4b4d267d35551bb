// Simulates a slow network for unmodified programs. To be preloaded (LD_PRELOAD): TCP connections are
// routed through a relay in the same process, which delays data and limits the rate. SLOW_NETWORK_US is
// the latency in microseconds. SLOW_NETWORK_MBIT is the bandwidth in millions of bits per second and
// direction.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Connect = int (*)(int, const sockaddr*, socklen_t);

double number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atof(text);
}

Connect real_connect() {
  static const auto found = reinterpret_cast<Connect>(dlsym(RTLD_NEXT, "connect"));
  return found;
}

/// One direction of a connection: data that is read is written when it is due.
class Line {
 public:
  Line(int from, int to) : from_(from), to_(to) {}

  void read_all() {
    std::vector<char> bytes(1 << 16);
    for (ssize_t got = 0; (got = read(from_, bytes.data(), bytes.size())) > 0;) {
      const auto on_the_line =
          std::chrono::duration<double, std::micro>(static_cast<double>(got) * 8 / mbit_);
      free_ = std::max(free_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(on_the_line);
      put(free_ + delay_, {bytes.begin(), bytes.begin() + got});
    }
    put(Clock::now() + delay_, {});
  }
  void write_all() {
    prctl(PR_SET_TIMERSLACK, 1);  // nanosecond, because it sleeps for microseconds
    for (;;) {
      std::unique_lock lock(mutex_);
      there_.wait(lock, [this] { return !messages_.empty(); });
      const auto [due, bytes] = std::move(messages_.front());
      messages_.pop_front();
      lock.unlock();
      std::this_thread::sleep_until(due);
      if (bytes.empty()) break;
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t put = write(to_, bytes.data() + at, bytes.size() - at);
        if (put <= 0) return;
        at += static_cast<std::size_t>(put);
      }
    }
    shutdown(to_, SHUT_WR);
  }

 private:
  void put(Clock::time_point due, std::vector<char> bytes) {
    {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(due, std::move(bytes));
    }
    there_.notify_one();
  }

  int from_, to_;
  Clock::duration delay_ = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::micro>(number("SLOW_NETWORK_US", 0)));
  double mbit_ = number("SLOW_NETWORK_MBIT", 1e9);
  Clock::time_point free_{};
  std::mutex mutex_;
  std::condition_variable there_;
  std::deque<std::pair<Clock::time_point, std::vector<char>>> messages_;
};

void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void relay(int listener, const sockaddr_storage& to, socklen_t size) {
  const int near = accept(listener, nullptr, nullptr);
  close(listener);
  const int far = socket(to.ss_family, SOCK_STREAM, 0);
  if (near < 0 || far < 0 || real_connect()(far, reinterpret_cast<const sockaddr*>(&to), size) != 0) {
    close(near);
    close(far);
    return;
  }
  send_at_once(near);
  send_at_once(far);
  Line there(near, far), back(far, near);
  std::thread threads[] = {std::thread(&Line::read_all, &there), std::thread(&Line::write_all, &there),
                           std::thread(&Line::read_all, &back), std::thread(&Line::write_all, &back)};
  for (std::thread& one : threads) one.join();
  close(near);
  close(far);
}

}  // namespace

extern "C" int connect(int socket, const sockaddr* address, socklen_t size) {
  int type = 0;
  socklen_t type_size = sizeof type;
  getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &type_size);
  if (type != SOCK_STREAM || address->sa_family != AF_INET) return real_connect()(socket, address, size);

  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t here_size = sizeof here;
  if (listener < 0) return real_connect()(socket, address, size);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      listen(listener, 1) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&here), &here_size) != 0) {
    close(listener);
    return real_connect()(socket, address, size);
  }
  sockaddr_storage to{};
  std::copy_n(reinterpret_cast<const char*>(address), size, reinterpret_cast<char*>(&to));
  std::thread(relay, listener, to, size).detach();
  return real_connect()(socket, reinterpret_cast<const sockaddr*>(&here), here_size);
}
