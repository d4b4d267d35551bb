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

/// An expert that a row has chosen, and its weight in the row's sum.
struct ChosenExpert {
  std::uint32_t expert;
  float weight;
};

/// The experts of a row with the router's outputs z (which are overwritten), as ExpertsSpec says, the best
/// one first. `bias`: of the choice; empty: none. Requires: chosen.size() ≤ z.size().
void choose_experts(const ExpertsSpec& spec, std::span<const float> bias, std::span<float> z,
                    std::span<ChosenExpert> chosen);

/// Mixtures of experts for a pass's rows. Rows are grouped by the experts that they have chosen: the weights
/// of each are read once, whatever the rows, and those of the others not at all. What a row gets does not
/// depend on the others: its experts are computed by themselves, and added in the order of their rank.
class ExpertsPass {
 public:
  /// Both must outlive it.
  ExpertsPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Memory for so many rows, also in the scratch. Requires: the weights were uploaded. Throws
  /// std::bad_alloc; what there was for fewer rows is as before then.
  void reserve(std::size_t rows, MatmulScratch& scratch);

  /// out[r] = the mixture of x[r]; routers with a norm of their own read `stream`. Returns how many experts
  /// were chosen by some row.
  std::size_t run(const ExpertsSpec& spec, Span2d<const float> x, Span2d<const float> stream,
                  Span2d<float> out, MatmulScratch& scratch);

 private:
  /// Choices of one expert have the places [begin, begin + size).
  struct Group {
    std::size_t block, begin, size;
  };
  /// The place of a choice of an expert whose block is not here.
  static constexpr std::size_t elsewhere = static_cast<std::size_t>(-1);
  /// A matrix of every block, and where its products go.
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
  std::size_t max_experts_ = 0, max_used_ = 0, max_block_ = 0;  // of all layers

  std::unique_ptr<float[]> router_;            // [rows, experts]
  std::unique_ptr<float[]> inputs_, outputs_;  // [places, width]
  std::unique_ptr<float[]> gates_, ups_;       // [places, width of a block]
  std::vector<ChosenExpert> chosen_;           // [rows, used]
  std::vector<std::size_t> places_;            // of the choices
  std::vector<std::size_t> counts_;            // by expert
  std::vector<Group> groups_;                  // by ascending block
  std::vector<Product> products_;
  std::vector<ProductGroup> product_groups_;
};

}  // namespace spectr
