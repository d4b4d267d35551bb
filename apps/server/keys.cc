#include "apps/server/keys.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "apps/support/open_file.h"

namespace spectr::server {
namespace {

/// Compares in time that does not depend on the position of a mismatch.
bool same(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const unsigned a = static_cast<unsigned char>(given[i]),
                   b = static_cast<unsigned char>(key[i % key.size()]);
    difference |= a ^ b;
  }
  return difference == 0;
}

/// Trims whitespace, which clients cannot send around a key.
std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Returns false for keys with control characters, which headers cannot contain.
bool can_be_sent(std::string_view key) {
  return std::ranges::none_of(key, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; });
}

}  // namespace

Result<void> Keys::add_list(std::string_view list) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view key = without_blanks(list.substr(begin, end - begin));
    if (key.empty()) return error("a key is empty");
    if (!can_be_sent(key)) return error("a key has a control character, which no client can send");
    keys_.emplace_back(key);
    begin = end + 1;
  }
  return {};
}

Result<void> Keys::add_file(const std::string& path) {
  SPECTR_TRY(std::ifstream file, open_file(path));
  const std::size_t before = keys_.size();
  bool first = true;
  for (std::string line; std::getline(file, line); first = false) {
    std::string_view key = line;
    if (constexpr std::string_view bom = "\xEF\xBB\xBF"; first && key.starts_with(bom))
      key.remove_prefix(bom.size());
    key = without_blanks(key);
    if (key.empty() || key.starts_with('#')) continue;
    if (!can_be_sent(key)) return error("{}: a key has a control character, which no client can send", path);
    keys_.emplace_back(key);
  }
  if (file.bad()) return error(ErrorCode::io, "{}: cannot be read", path);
  if (keys_.size() == before) return error("{}: there is no key in it", path);
  return {};
}

bool Keys::contains(std::string_view key) const {
  bool found = false;
  for (const std::string& known : keys_) found = same(key, known) || found;
  return found;
}

}  // namespace spectr::server
