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

/// Writes to a file descriptor, and never waits for whoever reads it: a line that finds no room is dropped,
/// and the next one that finds some is preceded by the number of those that were. Any thread may log; the
/// format is set before. It locks by itself, because the thread sanitizer does not see what libspdlog locks.
class LossySink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LossySink(int descriptor) : descriptor_(descriptor) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  /// Writes as much as there is room for; returns how much that was.
  std::size_t write(std::string_view bytes) const;

  int descriptor_;
  std::mutex mutex_;  // of what follows, of the formatter and of the order of lines
  std::size_t dropped_ = 0;
  bool cut_ = false;  // the last line that was begun has no end
};

/// Makes spdlog write to `sink` in this format.
void set_up_log(const std::shared_ptr<spdlog::sinks::sink>& sink, LogFormat format, bool verbose);

/// Logs an object, whose members stand beside `time` and `level`, where the format is JSON.
void log_object(spdlog::level::level_enum level, const Json& object);

/// From now on no write to standard error ends the process or waits for a reader: SIGPIPE is ignored, and
/// where standard error is a pipe or a terminal it is opened anew in non-blocking mode, which other processes
/// that share it do not notice. Where that is impossible only the log is free of waiting (LossySink).
void make_stderr_lossy();

}  // namespace spectr::server
