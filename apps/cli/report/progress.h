#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace spectr::cli {

/// A line on stderr that says how far a long run has come; silent where stderr is no terminal.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  void at(std::size_t done);
  /// Takes the line away.
  void done();

 private:
  std::string what_;
  std::size_t total_;
  int percent_ = -1;
  bool shown_;
};

/// Says on such a line how far a model's file has been loaded, see LoadOptions::progress.
std::function<void(const std::filesystem::path& file, std::uint64_t done, std::uint64_t all)> loading_bar();

/// Prints on such a line how much of a measurement is done, see CostFileOptions::progress.
std::function<void(std::string_view what, double share)> measuring_bar();

}  // namespace spectr::cli
