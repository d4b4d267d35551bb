#include "spectr/gguf/tensor_type.h"

#include <algorithm>
#include <array>

#include "spectr/base/check.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {
namespace {

template <class... Formats>
constexpr std::array<TensorFormat, sizeof...(Formats)> table_of(TypeList<Formats...>) {
  return {Formats::format...};
}

constexpr std::array formats = table_of(SupportedFormats());
static_assert(std::ranges::is_sorted(formats, {}, &TensorFormat::type));

}  // namespace

std::span<const TensorFormat> tensor_formats() {
  return formats;
}

std::optional<TensorFormat> tensor_format(std::uint32_t type) {
  const auto found = std::ranges::find(formats, static_cast<TensorType>(type), &TensorFormat::type);
  if (found == formats.end()) return std::nullopt;
  return *found;
}

const TensorFormat& format_of(TensorType type) {
  const auto found = std::ranges::find(formats, type, &TensorFormat::type);
  SPECTR_CHECK(found != formats.end());
  return *found;
}

}  // namespace spectr
