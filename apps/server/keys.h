#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::server {

/// The keys that open the server. None: it is open.
class Keys {
 public:
  /// Requires: not empty.
  void add(std::string key);
  /// One key a line; empty lines and those that begin with # are left out. Error: no such file, no key in it.
  Result<void> add_file(const std::string& path);

  bool none() const { return keys_.empty(); }
  /// Whether it is one of the keys. Takes the same time whichever key it is like, and however much.
  bool contains(std::string_view key) const;

 private:
  std::vector<std::string> keys_;
};

}  // namespace spectr::server
