#include "apps/cli/report/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/base/os/terminal.h"

namespace spectr::cli {

Progress::Progress(std::string what, std::size_t total)
    : label_(std::move(what)), total_(total), shown_(is_terminal(StandardStream::error)) {}

void Progress::at(std::size_t done) {
  const int percent = total_ == 0 ? 100 : static_cast<int>(100 * done / total_);
  if (!shown_ || percent == percent_) return;
  percent_ = percent;
  constexpr int width = 30;
  const int filled = percent * width / 100;
  fmt::print(stderr, "\r{} [{:=<{}}{:{}}] {:3}%", label_, "", filled, "", width - filled, percent);
}

void Progress::done() {
  if (shown_ && percent_ >= 0) fmt::print(stderr, "\r\033[K");
}

std::function<void(const std::filesystem::path&, std::uint64_t, std::uint64_t)> loading_bar() {
  return [bar = std::shared_ptr<Progress>()](const std::filesystem::path& file, std::uint64_t done,
                                             std::uint64_t all) mutable {
    if (!bar) {
      bar = std::make_shared<Progress>(fmt::format("loading {}, {:.1f} MB", escape(file.filename().string()),
                                                   1e-6 * static_cast<double>(all)),
                                       all);
    }
    bar->at(done);
    if (done < all) return;
    bar->done();
    bar.reset();  // the next model gets its own line
  };
}

std::function<void(std::string_view, double)> measuring_bar() {
  return [bar = std::shared_ptr<Progress>()](std::string_view what, double share) mutable {
    constexpr std::size_t total = 100;
    if (!bar) bar = std::make_shared<Progress>(std::string(what), total);
    bar->at(static_cast<std::size_t>(total * share));
    if (share < 1.0) return;
    bar->done();
    bar.reset();
  };
}

}  // namespace spectr::cli
