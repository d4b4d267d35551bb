#pragma once

#include <cstddef>
#include <string>

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

}  // namespace spectr::cli
