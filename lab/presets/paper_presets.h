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

/// Returns the settings of a column of MTAD's table 13: "L,CP" is Llama-2 on ChatGPT-Prompts. Requires: the
/// column exists.
MethodOptions mtad_settings(std::string_view column);

/// Seconds per method and data set according to MTAD's section 5 (its appendix E says an hour).
inline constexpr double time_budget = 1000.0;

/// Returns MTAD's filters (appendix F): the 20 likeliest tokens, and of these the likeliest with a total
/// probability of 0.9.
WarpOptions mtad_warp(std::size_t top_k = 20, double top_p = 0.9);

}  // namespace spectr::lab
