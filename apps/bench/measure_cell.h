#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "apps/bench/energy_meter.h"
#include "apps/bench/generation.h"
#include "apps/json.h"

namespace spectr::bench {

/// Runs a cell over prompts, each beside plain decoding of the same prompt: plain and method take turns, and
/// turns at being first, so that whatever else the machine does meets both. The block efficiency is
/// a mean over prompts ± a standard error; the speed-up is the ratio of the mean times per token, because on
/// a machine that others use, times add up and speeds do not.
/// `done` is called after every prompt. Requires: at least one prompt.
Result<Json> measure_cell(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
                          EnergyMeter& meter, const std::function<void()>& done);

/// Everything that a row depends on, except for the machine: the key that it is kept under between runs.
Json key_of(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts, int threads);

/// ROUGE-L (Lin, 2004): F₁ of the longest common subsequence of words,
///   2 LCS / (words of `text` + words of `reference`),
/// words being runs of letters and digits, in lower case. 0 where either has none. Cost: product of lengths.
double rouge_l(std::string_view text, std::string_view reference);

}  // namespace spectr::bench
