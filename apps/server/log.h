#pragma once

#include <spdlog/common.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "apps/server/access_log.h"
#include "apps/support/json.h"

namespace spectr::server {

/// Writes to a file descriptor without blocking. Lines that do not fit are dropped; the next line that fits
/// is preceded by their number. Thread-safe, but set the format first. It has its own lock because the thread
/// sanitizer does not see that of libspdlog.
class LossySink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LossySink(int descriptor) : descriptor_(descriptor) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  /// Writes as much as fits without blocking. Returns the number of bytes written.
  std::size_t write(std::string_view bytes) const;

  int descriptor_;
  std::mutex mutex_;  // guards the members below, the formatter and the order of lines
  std::size_t dropped_ = 0;
  bool cut_ = false;  // the last line was written incompletely
};

/// Makes spdlog write to `sink` in the given format.
void set_up_log(const std::shared_ptr<spdlog::sinks::sink>& sink, LogFormat format, bool verbose);

/// Logs an object. In the JSON format, its members follow `time` and `level`.
void log_object(spdlog::level::level_enum level, const Json& object);

/// Prevents writes to standard error from blocking or ending the process: ignores SIGPIPE and, if standard
/// error is a pipe or a terminal, reopens it in non-blocking mode, without affecting other processes that
/// share it. If that is impossible, only the log does not block (LossySink).
void make_stderr_lossy();

}  // namespace spectr::server
