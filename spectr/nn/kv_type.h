#pragma once

#include <optional>
#include <string_view>

namespace spectr {

/// What keys or values are stored as.
enum class KvType { f32, f16 };

/// "f32", "f16".
constexpr std::string_view name_of(KvType type) {
  return type == KvType::f32 ? "f32" : "f16";
}

/// What a model's keys and values are stored as.
struct KvTypes {
  KvType keys, values;

  friend bool operator==(const KvTypes&, const KvTypes&) = default;
};

/// What somebody wants them stored as; none: the model's default.
struct KvChoice {
  std::optional<KvType> keys = {}, values = {};

  KvTypes or_else(const KvTypes& defaults) const {
    return {keys.value_or(defaults.keys), values.value_or(defaults.values)};
  }
};

}  // namespace spectr
