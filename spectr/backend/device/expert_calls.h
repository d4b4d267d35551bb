#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/backend/device/call_places.h"
#include "spectr/backend/device/expert_group.h"
#include "spectr/nn/model_spec.h"

/// Kernel calls of mixture-of-experts layers.
namespace spectr::call {

/// Chooses each row's experts by the router's outputs z (see ExpertsSpec), best first, and computes their
/// weights. NaN sorts last. Sums over experts first add those with equal e mod 32, ascending, then the 32
/// partial sums pairwise. Requires: experts ≤ max_experts.
struct ChooseExperts {
  ExpertsSpec::Gating gating;
  bool normalized;
  float weights_scale;
  Rows z;
  Slice bias, scales;  ///< [experts], or none
  std::size_t rows, experts, used, groups, groups_used;
  Slice chosen, weights;  ///< [rows][used], int32 and f32
};
inline constexpr std::size_t max_experts = 4096;

/// The experts that rows have chosen, by slot = used · row + index of the choice. `chosen` are the [slots]
/// experts. Only the `blocks` experts from `first` on are on this device; choices of others are skipped.
struct Choices {
  Slice chosen;
  std::size_t slots, first, blocks;
};

/// Slots grouped by chosen expert: [groups] ExpertGroups, then [slots] int32 slot numbers, ascending in each
/// group. Groups are ordered by expert; trailing groups are empty.
struct ExpertLists {
  Slice at;
  std::size_t groups, slots;

  std::size_t slots_at() const { return groups * sizeof(ExpertGroup); }
  std::size_t bytes() const { return slots_at() + slots * sizeof(std::int32_t); }
};

struct GroupExperts {
  Choices choices;
  ExpertLists lists;
};

/// A matrix of every expert, contiguous by component: all codes, then all scales, then all factors.
struct ExpertWeights {
  Weights each;  ///< location of the first expert's components
  std::size_t blocks;
};

/// Computes y = W x for the listed slots, bitwise equal to Product. Slot s reads row s / `sharers` of x and
/// uses its chosen expert's matrix.
struct ExpertProduct {
  ExpertWeights weights;
  ExpertLists lists;
  QuantizedRows x;
  std::size_t sharers;
  Rows y;
};

/// ExpertProduct with floating-point weights and x.
struct ExpertFloatProduct {
  ExpertWeights weights;
  ExpertLists lists;
  Rows x;
  std::size_t sharers;
  Rows y;
};

/// Adds to each slot the row of `from`, [blocks][cols], of its chosen expert.
struct AddChosen {
  Choices choices;
  Rows to;  ///< by slot
  Slice from;
  std::size_t cols;
};

/// Computes out = Σ w · in over the slots of a row, in ascending order starting from 0.
struct Combine {
  Choices choices;
  Slice weights;  ///< [slots]
  Rows in;        ///< by slot
  Rows out;
  std::size_t rows, cols;
};

}  // namespace spectr::call
