#pragma once

#include <string>

/// Messages of xgrammar, collected instead of printed.
namespace xgrammar_log {

/// Collects the warnings of this thread as long as it lives. One at a time in a thread.
class Warnings {
 public:
  Warnings();
  ~Warnings();
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  /// The first warning; empty: there was none.
  const std::string& first() const { return first_; }
  void add(const std::string& warning) {
    if (first_.empty()) first_ = warning;
  }

 private:
  std::string first_;
};

}  // namespace xgrammar_log
