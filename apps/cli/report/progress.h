#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace spectr::cli {

/// A progress line on stderr for long runs; prints nothing if stderr is not a terminal.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  void at(std::size_t done);
  /// Removes the line.
  void done();

 private:
  std::string label_;
  std::size_t total_;
  int percent_ = -1;
  bool shown_;
};

/// Returns a callback that shows the progress of loading a file; see LoadOptions::progress.
std::function<void(const std::filesystem::path& file, std::uint64_t done, std::uint64_t all)> loading_bar();

/// Returns a callback that shows the progress of a measurement; see CostFileOptions::progress.
std::function<void(std::string_view what, double share)> measuring_bar();

}  // namespace spectr::cli
