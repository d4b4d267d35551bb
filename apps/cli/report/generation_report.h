#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "apps/support/json.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"

namespace spectr::cli {

/// A finished generation and its report, as JSON or as a few lines of text.
struct GenerationReport {
  const MethodRule& method;
  DraftShape shape;
  std::string plan;  ///< empty: no plan
  const Generation& generation;
  std::string_view stop;  ///< stop reason of the generation, or an interrupt
  const std::string& text;
  std::uint64_t seed;
  std::optional<std::uint64_t> costs_hash;  ///< of costs that determine the text, too (auto)
  std::size_t load;                         ///< number of sequences that share a pass
  double load_seconds;              ///< reading files and packing weights; not part of the generation's time
  std::optional<Generation> plain;  ///< plain decoding for comparison

  Json json() const;
  void print(std::FILE* out, bool with_costs_hash) const;

 private:
  double speedup() const;
  /// Returns true if the output has the target's distribution, given the method and its plan.
  bool lossless() const;
};

}  // namespace spectr::cli
