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

/// A finished generation and how it is told: as JSON for programs, as a few lines for people.
struct GenerationReport {
  const MethodRule& method;
  DraftShape shape;
  std::string plan;  ///< empty: none
  const Generation& generation;
  std::string_view stop;  ///< why the text ended: the generation's reason, or an interrupt
  const std::string& text;
  std::uint64_t seed;
  std::optional<std::uint64_t> costs_hash;  ///< of the costs that fix the text beside the seed (auto)
  std::size_t load;                         ///< by which these costs were shared
  double load_seconds;  ///< reading the files and packing the weights, before the generation's own time
  std::optional<Generation> plain;  ///< the plain run to compare with

  Json json() const;
  void print(std::FILE* out, bool with_costs_hash) const;

 private:
  double speedup() const;
  /// Whether the output has the target's distribution: a question of the method and of its plan.
  bool lossless() const;
};

}  // namespace spectr::cli
