#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::server {

/// The API keys of the server. If there are none, no key is required.
class Keys {
 public:
  /// Adds comma-separated keys. Whitespace around a key is ignored. Fails if a key is empty or contains a
  /// control character.
  Result<void> add_list(std::string_view list);
  /// Adds one key per line. Empty lines and lines that begin with # are ignored, as are whitespace
  /// around a key and a byte-order mark. Fails if the file is missing, has no key, or a key contains a
  /// control character.
  Result<void> add_file(const std::string& path);

  bool none() const { return keys_.empty(); }
  /// Returns true if it is one of the keys. Takes the same time for all mismatches of the same length.
  bool contains(std::string_view key) const;

 private:
  std::vector<std::string> keys_;
};

}  // namespace spectr::server
