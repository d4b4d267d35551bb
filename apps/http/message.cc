#include "apps/http/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>

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

std::string request_id(std::string_view sent) {
  constexpr std::size_t max_size = 128;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("._:+/=@-").contains(c);
  };
  if (!sent.empty() && sent.size() <= max_size && std::ranges::all_of(sent, is_plain))
    return std::string(sent);
  static std::atomic<std::uint32_t> number = 0;
  static const std::uint32_t run = std::random_device{}();
  return fmt::format("{:08x}{:08x}", run, ++number);
}

}  // namespace spectr::http
