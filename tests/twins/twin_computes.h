#pragma once

#include <span>
#include <vector>

#include "tests/twins/twin_calls.h"

/// Implementations of each kind of kernel call on memory of this process, with the bits of twins.h.
namespace spectr::twin {

/// Returns row r of a matrix.
inline std::span<float> row(const call::Rows& rows, std::size_t r, std::size_t cols) {
  return {numbers_at<float>(rows.at.behind(r * rows.stride * sizeof(float)), cols), cols};
}

/// Returns a vector, which is empty if the slice is.
inline std::span<const float> vector(const Slice& slice, std::size_t size) {
  return slice ? std::span<const float>(numbers_at<const float>(slice, size), size)
               : std::span<const float>();
}

/// Quantizes rows, if `out` requires it.
void quantize_rows(const call::Rows& in, const call::QuantizedRows& out);
/// Returns the rows of a slab.
QuantizedRows rows_of_slab(const call::QuantizedRows& rows, std::size_t slab);

/// Computes y = W x: [rows of x, rows of W].
std::vector<float> product(const call::Weights& weights, const QuantizedRows& x);
/// Computes y = W x in floats for `n` rows.
std::vector<float> float_product(const call::Weights& weights, std::span<const float> x, std::size_t n);

// Implemented in twin_calls.cc:
void compute(const call::Copy& call, Rounding rounding);
void compute(const call::Add& call, Rounding rounding);
void compute(const call::Scale& call, Rounding rounding);
void compute(const call::Cap& call, Rounding rounding);
void compute(const call::Gate& call, Rounding rounding);
void compute(const call::Norm& call, Rounding rounding);
void compute(const call::Quantize& call, Rounding rounding);
void compute(const call::Product& call, Rounding rounding);
void compute(const call::FloatProduct& call, Rounding rounding);
void compute(const call::QuantizeHeads& call, Rounding rounding);
void compute(const call::HeadProducts& call, Rounding rounding);
void compute(const call::FloatHeadProducts& call, Rounding rounding);
void compute(const call::Activate& call, Rounding rounding);

// Implemented in twin_logit_calls.cc:
void compute(const call::Spread& call, Rounding rounding);
void compute(const call::ExtraTokenLogits& call, Rounding rounding);
void compute(const call::Top& call, Rounding rounding);
void compute(const call::SumExp& call, Rounding rounding);

// Implemented in twin_experts_calls.cc:
void compute(const call::ChooseExperts& call, Rounding rounding);
void compute(const call::GroupExperts& call, Rounding rounding);
void compute(const call::ExpertProduct& call, Rounding rounding);
void compute(const call::ExpertFloatProduct& call, Rounding rounding);
void compute(const call::AddChosen& call, Rounding rounding);
void compute(const call::Combine& call, Rounding rounding);

// Implemented in twin_attention_calls.cc:
void compute(const call::Move& call, Rounding rounding);
void compute(const call::Rope& call, Rounding rounding);
void compute(const call::Attend& call, Rounding rounding);
void compute(const call::Merge& call, Rounding rounding);

// Implemented in twin_state_calls.cc:
void compute(const call::StoreInputs& call, Rounding rounding);
void compute(const call::Convolve& call, Rounding rounding);
void compute(const call::PrepareHeads& call, Rounding rounding);
void compute(const call::MultiplyKeys& call, Rounding rounding);
void compute(const call::Recur& call, Rounding rounding);

}  // namespace spectr::twin
