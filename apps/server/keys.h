#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::server {

/// The keys that open the server. None: it is open.
class Keys {
 public:
  /// One key, or several behind commas; blanks around a key are none of it. Error: a key is empty, or has a
  /// control character.
  Result<void> add_list(std::string_view list);
  /// One key a line; empty lines and those that begin with # are left out, as are blanks around a key and a
  /// byte order mark. Error: no such file, no key in it, or one with a
  /// control character.
  Result<void> add_file(const std::string& path);

  bool none() const { return keys_.empty(); }
  /// Whether it is one of the keys. Takes the same time whichever key it is like, and however much.
  bool contains(std::string_view key) const;

 private:
  std::vector<std::string> keys_;
};

}  // namespace spectr::server
