#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spectr {

/// What keys or values are stored as.
enum class KvType { f32, f16, q8_0 };

/// A type by its name, and the bytes of a number with its share of a scale.
struct KvTypeRule {
  KvType type;
  std::string_view name;
  double bytes;
};

/// All of them, in the order of the enum.
inline constexpr std::array kv_type_rules = {KvTypeRule{KvType::f32, "f32", 4},
                                             KvTypeRule{KvType::f16, "f16", 2},
                                             KvTypeRule{KvType::q8_0, "q8_0", 1.125}};

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

/// So many neighbouring dimensions of a key or a value share a scale as q8_0; at the end of a head with
/// another size those that are left.
constexpr std::size_t q8_dims = 32;

/// What numbers x become as q8_0: quants · scale, rounded to a float, with scale = max |x| / 127, the result,
/// and the nearest integers. Each is off by at most (½ + 2⁻¹⁵) scale. Where a number is NaN or infinite all
/// become so; where all are below 10⁻³⁰ in size they become 0. Requires: quants.size() == x.size().
float round_to_q8(std::span<const float> x, std::span<std::int8_t> quants);

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
