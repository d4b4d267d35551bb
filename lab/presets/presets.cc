#include "lab/presets/presets.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "lab/presets/paper_presets.h"
#include "spectr/base/names.h"

namespace spectr::lab {
namespace {

using bench::Preset;

/// Returns "mtad-table" and 10 for "mtad-table10", to sort names by their numbers.
std::pair<std::string_view, int> order(const Preset& preset) {
  const std::size_t end = preset.name.find_last_not_of("0123456789") + 1;
  int number = 0;
  std::from_chars(preset.name.data() + end, preset.name.data() + preset.name.size(), number);
  return {preset.name.substr(0, end), number};
}

std::vector<Preset> make_presets() {
  std::vector<Preset> all = spectr_presets();
  for (const auto& more : {mtad_presets(), mtad_comparisons()})
    all.insert(all.end(), more.begin(), more.end());
  std::ranges::sort(all, {}, order);
  return all;
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> all = make_presets();
  return all;
}

Result<const Preset*> find_preset(std::string_view name) {
  return find_named(presets(), "preset", name);
}

}  // namespace spectr::lab
