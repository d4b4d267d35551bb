#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "apps/http/handler.h"

namespace spectr::server {

enum class LogFormat {
  text,  ///< "2026-11-28T13:00:00.123 info MESSAGE"
  json,  ///< one object a line: time, level, message; for requests what AccessLog adds
};

/// Logs every exchange on a line of its own, and counts them by status. Thread-safe.
class AccessLog {
 public:
  explicit AccessLog(LogFormat format) : format_(format) {}

  /// Probes (/health, /v1/health, /metrics) that succeed are logged at level debug, everything else at info.
  void add(const http::Request& request, const http::Exchange& exchange);
  /// Answers by HTTP status; http::Exchange::client_left counts those that nobody waited for.
  std::map<int, std::uint64_t> counts() const;

 private:
  LogFormat format_;
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> counts_;
};

}  // namespace spectr::server
