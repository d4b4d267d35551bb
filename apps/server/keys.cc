#include "apps/server/keys.h"

#include <fstream>
#include <utility>

#include "apps/open_file.h"
#include "spectr/base/check.h"

namespace spectr::server {
namespace {

/// Looks at every byte of `given`, whatever it finds.
bool same(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const unsigned a = static_cast<unsigned char>(given[i]),
                   b = static_cast<unsigned char>(key[i % key.size()]);
    difference |= a ^ b;
  }
  return difference == 0;
}

}  // namespace

void Keys::add(std::string key) {
  SPECTR_CHECK(!key.empty());
  keys_.push_back(std::move(key));
}

Result<void> Keys::add_file(const std::string& path) {
  SPECTR_TRY(std::ifstream file, open_file(path));
  const std::size_t before = keys_.size();
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !line.starts_with('#')) keys_.push_back(line);
  }
  if (file.bad()) return error("{}: cannot be read", path);
  if (keys_.size() == before) return error("{}: there is no key in it", path);
  return {};
}

bool Keys::contains(std::string_view key) const {
  bool found = false;
  for (const std::string& known : keys_) found = same(key, known) || found;
  return found;
}

}  // namespace spectr::server
