#include "apps/http/message.h"

#include <algorithm>

namespace spectr::http {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const Field& field) { return same_name(field.first, name); });
  add(std::string(name), std::move(value));
}

std::string_view Headers::get(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, [&](const Field& f) { return same_name(f.first, name); });
  return found == fields_.end() ? std::string_view() : std::string_view(found->second);
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields_, [&](const Field& f) { return same_name(f.first, name); }));
}

}  // namespace spectr::http
