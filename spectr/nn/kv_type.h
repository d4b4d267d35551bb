#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spectr {

/// Storage type of keys or values.
enum class KvType { f32, f16, q8_0 };

/// A storage type with its name and its bytes per element, including the share of a scale.
struct KvTypeRule {
  KvType type;
  std::string_view name;
  double bytes;
};

/// All storage types, in the order of the enum.
inline constexpr std::array kv_type_rules = {KvTypeRule{KvType::f32, "f32", 4},
                                             KvTypeRule{KvType::f16, "f16", 2},
                                             KvTypeRule{KvType::q8_0, "q8_0", 1.125}};

constexpr const KvTypeRule& rule_of(KvType type) {
  return kv_type_rules[static_cast<std::size_t>(type)];
}
constexpr std::string_view name_of(KvType type) {
  return rule_of(type).name;
}
/// Returns the type of this name, or nothing if there is none.
constexpr std::optional<KvType> kv_type(std::string_view name) {
  const auto found = std::ranges::find(kv_type_rules, name, &KvTypeRule::name);
  if (found == kv_type_rules.end()) return std::nullopt;
  return found->type;
}

/// Number of adjacent dimensions of a key or a value that share a q8_0 scale. The last group of a head is
/// shorter if the head's size is not a multiple of it.
constexpr std::size_t q8_dims = 32;

/// Rounds x to q8_0: returns scale = max |x| / 127, rounded to a float, and sets quants to the integers
/// nearest to x / scale. Each product is off by at most (½ + 2⁻¹⁵) scale. If any x is NaN or infinite, all
/// become so; if all are below 10⁻³⁰ in magnitude, all become 0. Requires: quants.size() == x.size().
float round_to_q8(std::span<const float> x, std::span<std::int8_t> quants);

/// Storage types of a model's keys and values.
struct KvTypes {
  KvType keys, values;

  friend bool operator==(const KvTypes&, const KvTypes&) = default;
};

/// The storage types that a caller asks for (none: the model's default), and whether layers with a window
/// keep all keys and values, so that a sequence can be rolled back to any length.
struct KvChoice {
  std::optional<KvType> keys = {}, values = {};
  bool keep_all = false;

  KvTypes or_else(const KvTypes& defaults) const {
    return {keys.value_or(defaults.keys), values.value_or(defaults.values)};
  }
};

}  // namespace spectr
