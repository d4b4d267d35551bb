// The formats that can be decoded. To add one, add a header in this folder and an entry in the list below.
//
// Kernels are compiled once for each instruction set, and so are decode_scales() and load(): the source file
// of an instruction set includes this header after selecting its compiler target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/gguf/quant/iq1.h"
#include "spectr/gguf/quant/iq2.h"
#include "spectr/gguf/quant/iq3.h"
#include "spectr/gguf/quant/iq4_nl.h"
#include "spectr/gguf/quant/iq4_xs.h"
#include "spectr/gguf/quant/mxfp4.h"
#include "spectr/gguf/quant/plain.h"
#include "spectr/gguf/quant/q1_0.h"
#include "spectr/gguf/quant/q2_0.h"
#include "spectr/gguf/quant/q2_k.h"
#include "spectr/gguf/quant/q3_k.h"
#include "spectr/gguf/quant/q4_0.h"
#include "spectr/gguf/quant/q4_1.h"
#include "spectr/gguf/quant/q4_k.h"
#include "spectr/gguf/quant/q5_0.h"
#include "spectr/gguf/quant/q5_1.h"
#include "spectr/gguf/quant/q5_k.h"
#include "spectr/gguf/quant/q6_k.h"
#include "spectr/gguf/quant/q8_0.h"
#include "spectr/gguf/quant/tq1_0.h"
#include "spectr/gguf/quant/tq2_0.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {

template <class... Types>
struct TypeList {};

/// All supported formats, in the order of their numbers in files.
using SupportedFormats =
    TypeList<quant::F32,  //
             quant::F16, quant::Q4_0, quant::Q4_1, quant::Q5_0, quant::Q5_1, quant::Q8_0, quant::Q2_K,
             quant::Q3_K, quant::Q4_K, quant::Q5_K, quant::Q6_K, quant::IQ2_XXS, quant::IQ2_XS,
             quant::IQ3_XXS, quant::IQ1_S, quant::IQ4_NL, quant::IQ3_S, quant::IQ2_S, quant::IQ4_XS,
             quant::IQ1_M, quant::BF16, quant::TQ1_0, quant::TQ2_0, quant::MXFP4, quant::Q1_0, quant::Q2_0>;

/// A format of numbers that share scales, as kept in memory (see QuantLayout). In addition to the members
/// that the concept checks, it has:
///
///     decode_scales<Lanes>()   scale() for all columns of a super-block and several rows, see panel_header.h
///     values                   for quants that are indices: the table of 16 signed bytes
template <class Format>
concept KeptFormat = requires(const QuantBlock& block, int i) {
  QuantLayout(Format::layout);
  QuantScale(Format::scale(block, i));  // of the columns [scale_columns · i, scale_columns · (i + 1))
};

/// Number of super-blocks that a block of a file is split into.
template <class Format>
constexpr std::size_t parts_of = Format::format.elements / std::size_t{Format::layout.columns};

/// A file format whose numbers share scales. In memory, the file's bits are reordered or, if decoding them is
/// costly, expanded to more bits for the same numbers. Formats with the same representation in memory share
/// it as `Kept`, which kernels are instantiated for.
template <class Format>
concept QuantFormat = KeptFormat<Format> && requires(const std::uint8_t* file, QuantBlock& out) {
  requires Format::format.elements % std::size_t{Format::layout.columns} == 0;
  requires Format::format.bytes <= parts_of<Format>* std::size_t{Format::layout.bytes()};
  Format::split(file, out);  // unpacks a block of a file into one with a single header
};

template <class Format>
struct KeptAs {
  using Type = Format;
};
template <class Format>
  requires requires { typename Format::Kept; }
struct KeptAs<Format> {
  using Type = typename Format::Kept;
};

/// A format of independent numbers. In addition to the members that the concept checks, it has:
///
///     load<Lanes>()   loads a vector of consecutive numbers
template <class Format>
concept PlainFormat = requires(const std::byte* file) {
  requires Format::format.elements == 1;
  float(Format::value(file));
};

/// Calls use(Format()) for the format of this type; does nothing if the type is not supported.
template <class Use>
constexpr void with_format(TensorType type, const Use& use) {
  [&]<class... Formats>(TypeList<Formats...>) {
    static_assert(((QuantFormat<Formats> != PlainFormat<Formats>) && ...));
    static_cast<void>(((type == Formats::format.type && (use(Formats()), true)) || ...));
  }(SupportedFormats());
}

/// True if the type is in the list.
constexpr bool is_supported(TensorType type) {
  bool found = false;
  with_format(type, [&](auto) { found = true; });
  return found;
}

}  // namespace spectr
