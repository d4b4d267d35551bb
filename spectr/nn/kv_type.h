#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace spectr {

/// What keys or values are stored as.
enum class KvType { f32, f16 };

/// A type by its name, and the bytes of a number.
struct KvTypeRule {
  KvType type;
  std::string_view name;
  std::size_t bytes;
};

/// All of them, in the order of the enum.
inline constexpr std::array kv_type_rules = {KvTypeRule{KvType::f32, "f32", 4},
                                             KvTypeRule{KvType::f16, "f16", 2}};

constexpr const KvTypeRule& rule_of(KvType type) {
  return kv_type_rules[static_cast<std::size_t>(type)];
}
constexpr std::string_view name_of(KvType type) {
  return rule_of(type).name;
}
/// The type of this name, if there is one.
constexpr std::optional<KvType> kv_type(std::string_view name) {
  const auto found = std::ranges::find(kv_type_rules, name, &KvTypeRule::name);
  if (found == kv_type_rules.end()) return std::nullopt;
  return found->type;
}

/// What a model's keys and values are stored as.
struct KvTypes {
  KvType keys, values;

  friend bool operator==(const KvTypes&, const KvTypes&) = default;
};

/// What somebody wants them stored as; none: the model's default. And whether layers with a window keep all
/// of them, so that any end of a sequence can be taken back.
struct KvChoice {
  std::optional<KvType> keys = {}, values = {};
  bool keep_all = false;

  KvTypes or_else(const KvTypes& defaults) const {
    return {keys.value_or(defaults.keys), values.value_or(defaults.values)};
  }
};

}  // namespace spectr
