#pragma once

// y = W x for slots as in expert_product.cuh, by tensor cores, for several slots per
// expert.

#include "spectr/backend/cuda/kernels/expert_product.cuh"
#include "spectr/backend/cuda/kernels/streamed_product.cuh"

namespace spectr::cuda {

/// A thread block has `lanes` panels of an expert, and processes its slots, 8 · x_tiles at a time, whose rows
/// of x are gathered. Grid: (rows / (16 · lanes), groups of slots).
template <class Format, class Shape>
class StreamedExpertsKernel {
  using Sums = StreamedSums<Format, Shape>;
  static constexpr int together = 8 * Sums::x_tiles;
  static constexpr FormatBytes bytes = Format::bytes;

 public:
  static SPECTR_DEVICE void run(const ExpertProduct& p) {
    SPECTR_SHARED int slots[together];
    dependents();
    predecessors();
    const ExpertGroup group = load(p.lists.groups + group_y());
    const int panels = (p.rows + 15) / 16, panel = group_x() * Sums::lanes + Sums::lane_of_group();
    const long block = (static_cast<long>(group.block) * panels + panel) * p.blocks;
    const PanelPlace place = panel_place<Format>(panel < panels, p.w.codes, p.w.scales, p.w.factors, block);
    const Sums sums(p.w.format.table, p.blocks, 0);
    for (int first = 0; first < group.size; first += together) {
      const int left = group.size - first, count = left < together ? left : together;
      group_barrier();  // the previous slots may still be read
      for (int i = thread(); i < count; i += Sums::threads)
        slots[i] = load(p.lists.slots + group.begin + first + i);
      group_barrier();
      sums.run(
          place, [] {}, [&](int slot, int b, int n) { copy_x(p, sums, slots, count, slot, b, n); },
          [&](int x, int row, float sum) {
            const int of_w = panel * 16 + row;
            if (x < count && of_w < p.rows) row_of(p.y, slots[x])[of_w] = sum;
          });
    }
  }

 private:
  static SPECTR_DEVICE void copy_x(const ExpertProduct& p, const Sums& sums, const int (&slots)[together],
                                   int count, int slot, int b, int n) {
    // Copies row i of a tile in shared memory from its row of x: lines of codes, and a number per half.
    const auto number = [](int r) { return r % 8 / 2 * 4 + r % 2; };
    for (int i = thread(); i < n * together * 4; i += Sums::threads) {
      const int of_block = i / (together * 4), row = i / 4 % together, t = i % 4;
      if (row >= count) continue;
      const int r = slots[row] / p.sharers;
      const long tile = static_cast<long>(b + of_block) * p.x.tiles + r % 64 / 8, slab = r / 64 * p.x.slab;
      const typename Sums::XPlace to = sums.place_of_x(slot, of_block);
      copy_line(to.codes + row / 8 * 512 + (row % 8 * 4 + t) * 16,
                p.x.codes + slab + tile * 512 + (r % 8 * 4 + t) * 16);
      if (t >= 2) continue;  // t < 2: index of the half
      const long at = slab / 4 + tile * 16 + number(r) + 2 * t;
      const u32 behind = 4 * (row / 8 * 16 + number(row) + 2 * t);
      copy_word(to.scales + behind, p.x.scales + at);
      if constexpr (bytes.takes_sums) copy_word(to.sums + behind, p.x.sums + at);
    }
  }
};

}  // namespace spectr::cuda
