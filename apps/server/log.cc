#include "apps/server/log.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <utility>

namespace spectr::server {
namespace {

constexpr auto objects = "objects";  // name of the logger whose messages are JSON objects
constexpr auto time_pattern = "%Y-%m-%dT%H:%M:%S.%e";

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    head_.format(message, out);
    const std::string_view payload(message.payload.data(), message.payload.size());
    const bool is_object =
        std::string_view(message.logger_name.data(), message.logger_name.size()) == objects;
    const std::string object = is_object ? std::string(payload) : text_of(Json{{"message", payload}});
    const std::string_view members = std::string_view(object).substr(1);  // includes the closing brace
    out.append(members.data(), members.data() + members.size());
    out.push_back('\n');
  }
  std::unique_ptr<formatter> clone() const override { return std::make_unique<JsonFormatter>(); }

 private:
  spdlog::pattern_formatter head_{fmt::format("{{\"time\":\"{}%z\",\"level\":\"%l\",", time_pattern),
                                  spdlog::pattern_time_type::local, ""};
};

bool has_room(int descriptor) {
  pollfd entry{descriptor, POLLOUT, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & POLLOUT) != 0;
}

}  // namespace

std::size_t LossySink::write(std::string_view bytes) const {
  std::size_t written = 0;
  while (written < bytes.size()) {
    // poll() guarantees room for PIPE_BUF bytes only.
    const std::string_view next = bytes.substr(written, PIPE_BUF);
    ssize_t count = ::send(descriptor_, next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK && has_room(descriptor_))
      count = ::write(descriptor_, next.data(), next.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

void LossySink::sink_it_(const spdlog::details::log_msg& message) {
  const std::lock_guard lock(mutex_);
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  std::string bytes;
  if (cut_) bytes += '\n';
  if (dropped_ > 0) {
    spdlog::memory_buf_t note;
    const std::string text = fmt::format("{} lines of the log were dropped: nobody read them", dropped_);
    formatter_->format({"", spdlog::level::warn, text}, note);
    bytes.append(note.data(), note.size());
  }
  bytes.append(line.data(), line.size());
  const std::size_t written = write(bytes);
  if (written == bytes.size()) {
    dropped_ = 0;
    cut_ = false;
  } else {
    ++dropped_;
    cut_ = cut_ || written > 0;
  }
}

void set_up_log(const std::shared_ptr<spdlog::sinks::sink>& sink, LogFormat format, bool verbose) {
  if (format == LogFormat::json) {
    sink->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    sink->set_pattern(fmt::format("{} %l %v", time_pattern));
  }
  spdlog::drop_all();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("spectr", sink));
  if (format == LogFormat::json) spdlog::register_logger(std::make_shared<spdlog::logger>(objects, sink));
  spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::info);
}

void log_object(spdlog::level::level_enum level, const Json& object) {
  if (const auto logger = spdlog::get(objects)) {
    logger->log(level, "{}", text_of(object));
  } else {
    spdlog::log(level, "{}", text_of(object));
  }
}

void make_stderr_lossy() {
  std::signal(SIGPIPE, SIG_IGN);
  struct stat what{};
  const bool is_closed = ::fstat(STDERR_FILENO, &what) != 0;
  if (!is_closed && !S_ISFIFO(what.st_mode) && !S_ISCHR(what.st_mode)) return;
  // A closed descriptor would be reused by the next file or connection.
  const char* const path = is_closed ? "/dev/null" : "/proc/self/fd/2";
  const int own = ::open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_APPEND | O_CLOEXEC);
  if (own < 0 || own == STDERR_FILENO) return;
  ::dup2(own, STDERR_FILENO);
  ::close(own);
}

}  // namespace spectr::server
