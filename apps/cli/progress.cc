#include "apps/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace spectr::cli {

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), shown_(isatty(STDERR_FILENO) == 1) {}

void Progress::at(std::size_t done) {
  const int percent = total_ == 0 ? 100 : static_cast<int>(100 * done / total_);
  if (!shown_ || percent == percent_) return;
  percent_ = percent;
  constexpr int width = 30;
  const int filled = percent * width / 100;
  fmt::print(stderr, "\r{} [{:=<{}}{:{}}] {:3}%", what_, "", filled, "", width - filled, percent);
}

void Progress::done() {
  if (shown_ && percent_ >= 0) fmt::print(stderr, "\r\033[K");
}

}  // namespace spectr::cli
