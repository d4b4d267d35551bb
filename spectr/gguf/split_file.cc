#include "spectr/gguf/split_file.h"

#include <optional>
#include <string_view>

namespace spectr {
namespace {

constexpr std::string_view pattern = "-#####-of-#####.gguf";
constexpr std::string_view count_key = "split.count", number_key = "split.no";

std::size_t number_at(std::string_view digits) {
  std::size_t number = 0;
  for (const char digit : digits.substr(0, 5)) number = 10 * number + static_cast<std::size_t>(digit - '0');
  return number;
}

/// Returns I − 1 and N if the name ends in -I-of-N.gguf, with five digits each.
std::optional<SplitPlace> place_by_name(std::string_view name) {
  if (name.size() < pattern.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - pattern.size());
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool digit = tail[i] >= '0' && tail[i] <= '9';
    if (pattern[i] == '#' ? !digit : tail[i] != pattern[i]) return std::nullopt;
  }
  return SplitPlace{number_at(tail.substr(1)) - 1, number_at(tail.substr(10))};
}

}  // namespace

Result<SplitPlace> split_place(const Gguf& part) {
  SPECTR_TRY(const auto count, part.integer(count_key, 1));
  SPECTR_TRY(const auto number, part.integer(number_key, 0));
  const auto named = place_by_name(part.name());
  if (count <= 1 && (!named || named->count <= 1)) return SplitPlace{};
  if (count <= 1) {
    return error("{}: is one of {} parts by its name, but {} is {}", part.name(), named->count, count_key,
                 part.find(count_key) ? "1" : "missing");
  }
  if (!named) {
    return error(
        "{}: is one of {} parts ({}), but its name does not end in -{:05}-of-{:05}.gguf, as theirs do",
        part.name(), count, count_key, number + 1, count);
  }
  if (named->count != count || named->number != number) {
    return error("{}: is part {} of {} by its name, but part {} of {} by {} and {}", part.name(),
                 named->number + 1, named->count, number + 1, count, number_key, count_key);
  }
  return *named;
}

std::string part_name(const std::string& part, std::size_t number) {
  std::string name = part;
  return name.replace(name.size() - pattern.size() + 1, 5, fmt::format("{:05}", number + 1));
}

Result<void> refuse_split(const Gguf& file) {
  if (file.parts() > 1) return {};
  SPECTR_TRY(const auto count, file.integer(count_key, 1));
  const auto named = place_by_name(file.name());
  if (count > 1) return error("{}: is one of {} parts ({}), and not whole", file.name(), count, count_key);
  if (named && named->count > 1)
    return error("{}: is one of {} parts by its name, and not whole", file.name(), named->count);
  return {};
}

}  // namespace spectr
