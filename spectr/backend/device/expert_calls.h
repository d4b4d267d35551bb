#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/backend/device/call_places.h"
#include "spectr/backend/device/expert_group.h"
#include "spectr/nn/model_spec.h"

/// Kernel calls of mixtures of experts.
namespace spectr::call {

/// The experts of each row by the router's outputs z, as ExpertsSpec says, the best one first, and what they
/// weigh. NaN comes behind all numbers. Sums over experts e are those of e mod 32 = 0 … 31, ascending, added
/// as a tree, neighbours first. Requires: at most most_experts.
struct ChooseExperts {
  ExpertsSpec::Gating gating;
  bool normalized;
  float weights_scale;
  Rows z;
  Slice bias, scales;  ///< [experts], or none
  std::size_t rows, experts, used, groups, groups_used;
  Slice chosen, weights;  ///< [rows][used], integers and floats
};
inline constexpr std::size_t most_experts = 4096;

/// What rows have chosen, by its slot: used · row + place. `chosen`: [slots] experts, of which the blocks
/// from `first` on are here; the others are left out.
struct Choices {
  Slice chosen;
  std::size_t slots, first, blocks;
};

/// Slots by what they have chosen: [groups] ExpertGroups, then [slots] integers, the slots of a group
/// ascending. Groups ascend by their blocks; behind them are groups without slots.
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

/// A matrix of each block, alike but for their numbers: each of their parts lies one behind the other.
struct ExpertWeights {
  Weights each;  ///< parts of the first block
  std::size_t blocks;
};

/// y = W x of the listed slots, with the bits of Product: slot s has row s / `sharers` of x, and the matrix
/// that it has chosen.
struct ExpertProduct {
  ExpertWeights weights;
  ExpertLists lists;
  QuantizedRows x;
  std::size_t sharers;
  Rows y;
};

/// The same with weights and x in floats.
struct ExpertFloatProduct {
  ExpertWeights weights;
  ExpertLists lists;
  Rows x;
  std::size_t sharers;
  Rows y;
};

/// to += the vector, [blocks][cols], that a slot has chosen.
struct AddChosen {
  Choices choices;
  Rows to;  ///< by slot
  Slice from;
  std::size_t cols;
};

/// out = Σ w · in over a row's slots in their order, from 0 on.
struct Combine {
  Choices choices;
  Slice weights;  ///< [slots]
  Rows in;        ///< by slot
  Rows out;
  std::size_t rows, cols;
};

}  // namespace spectr::call
