#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "apps/http/handler.h"

namespace spectr::server {

enum class LogFormat {
  text,  ///< "2026-11-28T13:00:00.123 info MESSAGE"
  json,  ///< one object per line: time, level, message; for requests, the fields of AccessLog
};

/// Logs each exchange on one line and counts exchanges by status. Thread-safe.
class AccessLog {
 public:
  explicit AccessLog(LogFormat format) : format_(format) {}

  /// Logs successful probes (/health, /v1/health, /metrics) at level debug and everything else at info.
  void add(const http::Request& request, const http::Exchange& exchange);
  /// Returns the number of answers by HTTP status. http::Exchange::client_left counts aborted requests.
  std::map<int, std::uint64_t> counts() const;

 private:
  LogFormat format_;
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> counts_;
};

}  // namespace spectr::server
