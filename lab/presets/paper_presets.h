#pragma once

#include <vector>

#include "apps/bench/methods/presets.h"

namespace spectr::lab {

/// Sun et al., *SpecTr: Fast Speculative Decoding via Optimal Transport*, arXiv 2310.15141.
std::vector<bench::Preset> spectr_presets();

/// Qin et al., *Optimized Multi-Token Joint Decoding with Auxiliary Model for LLM Inference*, arXiv
/// 2407.09722.
std::vector<bench::Preset> mtad_presets();

/// MTAD's tables for ten pairs of models and data sets: 4, 5, 9 and 13.
std::vector<bench::Preset> mtad_comparisons();

/// The settings of a column of MTAD's table 13: "L,CP" are those for Llama-2 on ChatGPT-Prompts. Requires:
/// there is such a column.
MethodOptions mtad_settings(std::string_view column);

/// Seconds that MTAD's section 5 gives a method on a data set (its appendix E says an hour).
inline constexpr double time_budget = 1000.0;

/// What MTAD filters distributions by (appendix F): the 20 likeliest tokens, then of these the likeliest
/// that make up 0.9.
WarpOptions mtad_warp(std::size_t top_k = 20, double top_p = 0.9);

}  // namespace spectr::lab
