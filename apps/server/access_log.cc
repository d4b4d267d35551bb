#include "apps/server/access_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "apps/server/log.h"
#include "apps/support/json.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_logged_path = 200, max_reason = 400;  // bytes

bool is_probe(const http::Request& request) {
  constexpr std::string_view paths[] = {"/health", "/v1/health", "/metrics"};
  return request.method != "POST" && std::ranges::find(paths, request.path) != std::end(paths);
}

double milliseconds_of(const http::Exchange& exchange) {
  return std::chrono::duration<double, std::milli>(exchange.duration).count();
}

/// Formats one line of logfmt. Values that contain blanks or quotes are quoted.
std::string as_text(const http::Request& request, const http::Exchange& exchange) {
  const auto word = [](std::string_view text, std::size_t limit) {
    const bool is_plain = !text.empty() && text.find_first_of(" =\"") == std::string_view::npos;
    return is_plain ? escape(text, limit) : quote(text, limit);
  };
  std::string line =
      fmt::format("{} {} {} {} {:.1f} ms", request.client, word(request.method, max_logged_path),
                  word(request.path, max_logged_path), exchange.status, milliseconds_of(exchange));
  for (const auto& [name, value] : exchange.notes) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      fmt::format_to(std::back_inserter(line), " {}={}", name, *number);
    } else {
      fmt::format_to(std::back_inserter(line), " {}={}", name,
                     quote(std::get<std::string>(value), max_reason));
    }
  }
  if (!exchange.complete) line += " complete=false";
  return line + " request_id=" + request.id;
}

Json as_json(const http::Request& request, const http::Exchange& exchange) {
  Json line = {{"message", "request"},
               {"client", request.client},
               {"method", shortened(request.method, max_logged_path)},
               {"path", shortened(request.path, max_logged_path)},
               {"status", exchange.status},
               {"milliseconds", milliseconds_of(exchange)}};
  for (const auto& [name, value] : exchange.notes) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      line[name] = *number;
    } else {
      line[name] = shortened(std::get<std::string>(value), max_reason);
    }
  }
  line["complete"] = exchange.complete;
  line["request_id"] = request.id;
  return line;
}

}  // namespace

void AccessLog::add(const http::Request& request, const http::Exchange& exchange) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_[exchange.status];
  }
  const bool is_quiet = is_probe(request) && exchange.status < 400;
  const auto level = is_quiet ? spdlog::level::debug : spdlog::level::info;
  if (!spdlog::should_log(level)) return;
  if (format_ == LogFormat::json) {
    log_object(level, as_json(request, exchange));
  } else {
    spdlog::log(level, "{}", as_text(request, exchange));
  }
}

std::map<int, std::uint64_t> AccessLog::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace spectr::server
