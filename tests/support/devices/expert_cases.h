#pragma once

#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/devices/expert_calls.h"

// Work with mixtures of experts, for which a device and the twins must return the same bits.
namespace spectr::test {

inline std::vector<WorkOnDevice> choosing_of_every_kind() {
  std::vector<WorkOnDevice> all;
  for (const Choosing& how : all_choosing())
    all.emplace_back([how](Device& on) { return bits_of(choose(on, how, how.z())); });
  return all;
}

/// Returns selections by NaN and infinity, without weights: the bits of a NaN are unspecified.
inline std::vector<WorkOnDevice> choosing_without_numbers() {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<WorkOnDevice> all;
  for (const std::vector<float>& z : {std::vector<float>{nan, -infinity, 0.0f, -0.0f, -nan, infinity},
                                      std::vector<float>{nan, nan, nan, nan, nan, nan}}) {
    for (const std::size_t groups : {1, 3}) {
      const Choosing how{.gating = ExpertsSpec::Gating::sigmoid,
                         .experts = 6,
                         .used = 4,
                         .groups = groups,
                         .groups_used = groups == 1 ? std::size_t{1} : 2,
                         .rows = 1};
      all.emplace_back([how, z](Device& on) {
        const std::vector<int> experts = choose(on, how, z).experts;
        return std::vector<std::uint32_t>(experts.begin(), experts.end());
      });
    }
  }
  return all;
}

inline std::vector<WorkOnDevice> lists_of_experts() {
  std::vector<WorkOnDevice> all;
  for (const Mixture& of :
       {Mixture{1, 1, 1, 0, 1}, {5, 3, 4, 0, 4}, {9, 4, 16, 5, 6}, {70, 2, 3, 0, 3}, {270, 2, 700, 20, 600}})
    all.emplace_back([of](Device& on) { return bits(on, lists_of(on, of)); });
  return all;
}

/// Returns products in which slots share rows of x, and products in which each slot has its own row.
inline std::vector<WorkOnDevice> products_of(TensorType type, std::size_t rows, std::size_t cols,
                                             const Mixture& of) {
  const auto matrices = std::make_shared<const ExpertMatrices>(type, rows, cols, of.blocks);
  std::vector<WorkOnDevice> all;
  for (const std::size_t sharers : {of.used, std::size_t{1}}) {
    all.emplace_back([=, x = random_floats(of.slots() / sharers * cols, 2)](Device& on) {
      return bits_of(expert_product(on, of, *matrices, sharers, x));
    });
  }
  return all;
}

inline std::vector<WorkOnDevice> expert_products(std::initializer_list<TensorType> types) {
  std::vector<WorkOnDevice> all;
  const auto add = [&all](std::vector<WorkOnDevice> more) {
    all.insert(all.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  };
  for (const TensorType type : types) {
    add(products_of(type, 20, 256, {1, 2, 8, 0, 8}));  // hardly any expert occurs twice
    add(products_of(type, 20, 256, {7, 2, 3, 1, 2}));
  }
  add(products_of(TensorType::q8_0, 17, 2336, {3, 2, 4, 0, 4}));
  add(products_of(TensorType::f16, 17, 2113, {3, 2, 4, 0, 4}));
  add(products_of(TensorType::q8_0, 16, 32, {35, 2, 2, 0, 2}));  // several slabs of x
  add(products_of(TensorType::q4_k, 70, 256, {40, 3, 3, 0, 3}));
  return all;
}

inline std::vector<WorkOnDevice> additions_of_experts() {
  std::vector<WorkOnDevice> all;
  for (const Mixture& of : {Mixture{1, 1, 1, 0, 1}, {5, 3, 4, 0, 4}, {9, 4, 16, 5, 6}}) {
    for (const std::size_t cols : {5, 600})
      all.emplace_back([of, cols](Device& on) { return bits_of(combined(on, of, cols)); });
  }
  return all;
}

}  // namespace spectr::test
