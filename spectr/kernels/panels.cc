#include "spectr/kernels/panels.h"

#include <algorithm>
#include <cstring>

namespace spectr {
namespace {

/// Adds the codes of one row and block to the plane at `plane`: bits [from, from + bits) of each.
void write_plane(const std::uint8_t* codes, int row, int from, int bits, std::uint8_t* plane) {
  const int mask = (1 << bits) - 1;
  for (int column = 0; column < 32; ++column) {
    const CodePlace place = code_place(row, column, bits);
    plane[place.byte] =
        static_cast<std::uint8_t>(plane[place.byte] | (codes[column] >> from & mask) << place.shift);
  }
}

void read_plane(const std::uint8_t* plane, int row, int to, int bits, std::uint8_t* codes) {
  const int mask = (1 << bits) - 1;
  for (int column = 0; column < 32; ++column) {
    const CodePlace place = code_place(row, column, bits);
    codes[column] =
        static_cast<std::uint8_t>(codes[column] | (plane[place.byte] >> place.shift & mask) << to);
  }
}

void write_unit(const PanelShape& shape, const CodeUnit& unit, int row, std::size_t index,
                std::uint8_t* panel) {
  const CodeLayout& layout = shape.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks());
  for (std::size_t b = 0; b < blocks; ++b) {
    std::uint8_t* low = panel + (index * blocks + b) * shape.block_bytes();
    write_plane(&unit.codes[32 * b], row, 0, layout.low_bits, low);
    if (layout.high_bits > 0) {
      write_plane(&unit.codes[32 * b], row, layout.low_bits, layout.high_bits, low + 64 * layout.low_bits);
    }
  }
  std::uint8_t* header = panel + shape.headers_at() + index * shape.header_bytes();
  for (int i = 0; i < layout.halves; ++i) std::memcpy(header + 32 * i + 2 * row, &unit.halves[i], 2);
  header += 32 * layout.halves;
  for (int i = 0; i < layout.scale_bytes; ++i) header[16 * i + row] = unit.scales[i];
}

}  // namespace

void read_unit(const PanelShape& shape, const std::uint8_t* panel, int row, std::size_t index,
               CodeUnit& unit) {
  const CodeLayout& layout = shape.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks());
  unit.codes.fill(0);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint8_t* low = panel + (index * blocks + b) * shape.block_bytes();
    read_plane(low, row, 0, layout.low_bits, &unit.codes[32 * b]);
    if (layout.high_bits > 0) {
      read_plane(low + 64 * layout.low_bits, row, layout.low_bits, layout.high_bits, &unit.codes[32 * b]);
    }
  }
  const std::uint8_t* header = panel + shape.headers_at() + index * shape.header_bytes();
  for (int i = 0; i < layout.halves; ++i) std::memcpy(&unit.halves[i], header + 32 * i + 2 * row, 2);
  header += 32 * layout.halves;
  for (int i = 0; i < layout.scale_bytes; ++i) unit.scales[i] = header[16 * i + row];
}

AlignedBytes pack_panels(TensorType type, const PanelShape& shape, std::size_t rows,
                         std::span<const std::byte> file, ThreadPool& pool) {
  const std::size_t panels = (rows + panel_rows - 1) / panel_rows;
  const std::size_t unit_bytes = format_of(type).bytes;
  AlignedBytes packed = allocate_aligned(panels * shape.panel_bytes());
  pool.parallel_for(panels, 1, [&](std::size_t begin, std::size_t end) {
    CodeUnit unit{};
    std::fill(packed.get() + begin * shape.panel_bytes(), packed.get() + end * shape.panel_bytes(), 0);
    for (std::size_t row = begin * panel_rows; row < std::min(end * panel_rows, rows); ++row) {
      std::uint8_t* panel = packed.get() + row / panel_rows * shape.panel_bytes();
      for (std::size_t i = 0; i < shape.units; ++i) {
        split_unit(type, file.data() + (row * shape.units + i) * unit_bytes, unit);
        write_unit(shape, unit, static_cast<int>(row % panel_rows), i, panel);
      }
    }
  });
  return packed;
}

}  // namespace spectr
