#include "spectr/backend/cpu/kernels/panels.h"

#include <algorithm>
#include <cstring>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

/// Adds the quants of one row and block to the plane at `plane`: bits [from, from + bits) of each.
template <int bits>
void write_plane(const std::uint8_t* quants, int row, int from, std::uint8_t* plane) {
  plane += 4 * row;
  for (int column = 0; column < 32; ++column) {
    const QuantPlace place = quant_place(0, column, bits);
    const int quant = quants[column] >> from & ((1 << bits) - 1);
    plane[place.byte] = static_cast<std::uint8_t>(plane[place.byte] | quant << place.shift);
  }
}

template <int bits>
void read_plane(const std::uint8_t* plane, int row, int to, std::uint8_t* quants) {
  plane += 4 * row;
  for (int column = 0; column < 32; ++column) {
    const QuantPlace place = quant_place(0, column, bits);
    const int quant = plane[place.byte] >> place.shift & ((1 << bits) - 1);
    quants[column] = static_cast<std::uint8_t>(quants[column] | quant << to);
  }
}

/// Calls call.operator()<bits>() for the possible widths of planes; does nothing for an absent plane.
template <class Call>
void with_width(int bits, const Call& call) {
  if (bits == 8) call.template operator()<8>();
  if (bits == 4) call.template operator()<4>();
  if (bits == 2) call.template operator()<2>();
  if (bits == 1) call.template operator()<1>();
}

void write_super_block(const PanelShape& shape, const QuantBlock& block, int row, std::size_t index,
                       std::uint8_t* panel) {
  const QuantLayout& layout = shape.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks());
  for (std::size_t b = 0; b < blocks; ++b) {
    std::uint8_t* low = panel + (index * blocks + b) * shape.block_bytes();
    std::uint8_t* high = low + 64 * layout.low_bits;
    const std::uint8_t* quants = &block.quants[32 * b];
    with_width(layout.low_bits, [&]<int bits>() { write_plane<bits>(quants, row, 0, low); });
    with_width(layout.high_bits, [&]<int bits>() { write_plane<bits>(quants, row, layout.low_bits, high); });
  }
  std::uint8_t* header = panel + shape.headers_at() + index * shape.header_bytes();
  for (int i = 0; i < layout.f16s; ++i) std::memcpy(header + 32 * i + 2 * row, &block.f16s[i], 2);
  header += 32 * layout.f16s;
  for (int i = 0; i < layout.scale_bytes; ++i) header[16 * i + row] = block.scales[i];
}

}  // namespace

/// In line, prefetches 16 KiB ahead. Otherwise, the four streams are the next four panels, a quarter of each
/// while one of the current four is used, or the quarters of the next panel that is not in use. If there is
/// none, they are the current panel.
PanelPrefetch PanelRun::prefetch_after(std::size_t panel, std::size_t at_once) const {
  const std::size_t distance = shape.panel_bytes(), quarter = shape.headers_at() / 4;
  const std::size_t left = uncached - std::min(uncached, panel);  // including this one
  if (order == PanelOrder::in_line) {
    const std::size_t ahead = std::size_t{16} << 10;
    return {quants_of(panel) + (left * distance >= ahead + distance ? ahead : 0), 0, 0};
  }
  const std::size_t of_four = (index + panel) % 4;
  const auto headers = static_cast<std::ptrdiff_t>(left > at_once ? at_once * distance : 0);
  if (order == PanelOrder::interleaved && left + of_four >= 8) {
    return {quants_of(panel + 4 - of_four) + of_four * quarter, distance, headers};
  }
  return {quants_of(panel) + headers, quarter, headers};
}

void read_super_block(const PanelShape& shape, const std::uint8_t* panel, int row, std::size_t index,
                      QuantBlock& block) {
  const QuantLayout& layout = shape.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks());
  block.quants.fill(0);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint8_t* low = panel + (index * blocks + b) * shape.block_bytes();
    const std::uint8_t* high = low + 64 * layout.low_bits;
    std::uint8_t* quants = &block.quants[32 * b];
    with_width(layout.low_bits, [&]<int bits>() { read_plane<bits>(low, row, 0, quants); });
    with_width(layout.high_bits, [&]<int bits>() { read_plane<bits>(high, row, layout.low_bits, quants); });
  }
  const std::uint8_t* header = panel + shape.headers_at() + index * shape.header_bytes();
  for (int i = 0; i < layout.f16s; ++i) std::memcpy(&block.f16s[i], header + 32 * i + 2 * row, 2);
  header += 32 * layout.f16s;
  for (int i = 0; i < layout.scale_bytes; ++i) block.scales[i] = header[16 * i + row];
}

AlignedBytes pack_panels(TensorType type, const PanelShape& shape, std::size_t rows,
                         std::span<const std::byte> file, ThreadPool& pool, SharedPages* pages) {
  const std::size_t panels = div_up(rows, panel_rows);
  const TensorFormat& format = format_of(type);
  const std::size_t parts = format.elements / static_cast<std::size_t>(shape.layout.columns);
  const std::size_t size = panels * shape.panel_bytes();
  AlignedBytes packed = pages != nullptr ? pages->allocate(size) : allocate_aligned(size);
  pool.parallel_for(panels, 1, [&](std::size_t begin, std::size_t end) {
    QuantBlock block{};
    std::fill(packed.get() + begin * shape.panel_bytes(), packed.get() + end * shape.panel_bytes(), 0);
    for (std::size_t row = begin * panel_rows; row < std::min(end * panel_rows, rows); ++row) {
      std::uint8_t* panel = packed.get() + row / panel_rows * shape.panel_bytes();
      for (std::size_t i = 0; i < shape.super_blocks; ++i) {
        const std::size_t at = row * shape.super_blocks + i;
        split_block(type, file.data() + at / parts * format.bytes, at % parts, block);
        write_super_block(shape, block, static_cast<int>(row % panel_rows), i, panel);
      }
    }
  });
  return packed;
}

}  // namespace spectr
