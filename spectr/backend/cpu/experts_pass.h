#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/cpu/cpu_weights.h"
#include "spectr/backend/cpu/kernels/matmul.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// An expert chosen by a row, and its weight in the row's sum.
struct ChosenExpert {
  std::uint32_t expert;
  float weight;
};

/// Chooses a row's experts by the router's outputs z (see ExpertsSpec), best first. Overwrites z. `bias` is
/// the selection bias, or empty. Requires: chosen.size() ≤ z.size().
void choose_experts(const ExpertsSpec& spec, std::span<const float> bias, std::span<float> z,
                    std::span<ChosenExpert> chosen);

/// Mixture-of-experts layers of a pass. Rows are grouped by expert: the weights of a chosen expert are read
/// once for all rows, and those of other experts are not read. A row's result does not depend on other rows:
/// its experts' outputs are computed separately and added in the order of their rank.
class ExpertsPass {
 public:
  /// Both arguments must outlive it.
  ExpertsPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Reserves memory for `rows` rows, also in the scratch. Requires: the weights were uploaded. Throws
  /// std::bad_alloc, without effect.
  void reserve(std::size_t rows, MatmulScratch& scratch);

  /// Sets out[r] to the mixture for x[r]; routers with their own norm read `stream`. Returns the number of
  /// distinct experts chosen.
  std::size_t run(const ExpertsSpec& spec, Span2d<const float> x, Span2d<const float> stream,
                  Span2d<float> out, MatmulScratch& scratch);

 private:
  /// The choices of one expert, at places [begin, begin + size).
  struct Group {
    std::size_t block, begin, size;
  };
  /// The place of choices whose expert is not on this rank.
  static constexpr std::size_t elsewhere = static_cast<std::size_t>(-1);
  /// A matrix of every expert, and the destination of its products.
  struct Target {
    const LinearSpec* (*linear_of)(const DenseSpec& block);
    Span2d<float> out;
  };

  void choose(const ExpertsSpec& spec, Span2d<const float> x, MatmulScratch& scratch);
  std::size_t group(const ExpertsSpec& spec);
  void multiply(const ExpertsSpec& spec, std::span<const Target> targets, Span2d<const float> in,
                MatmulScratch& scratch);

  const ModelSpec& spec_;
  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::size_t max_experts_ = 0, max_used_ = 0, max_block_ = 0;  // maximum over layers

  std::unique_ptr<float[]> router_;            // [rows, experts]
  std::unique_ptr<float[]> inputs_, outputs_;  // [places, width]
  std::unique_ptr<float[]> gates_, ups_;       // [places, width of a block]
  std::vector<ChosenExpert> chosen_;           // [rows, used]
  std::vector<std::size_t> places_;            // by choice
  std::vector<std::size_t> counts_;            // by expert
  std::vector<Group> groups_;                  // ascending by block
  std::vector<Product> products_;
  std::vector<ProductGroup> product_groups_;
};

}  // namespace spectr
