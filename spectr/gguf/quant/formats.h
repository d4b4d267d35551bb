// The formats whose numbers can be read. A new one is a header beside this file and a row of the list below.
//
// Kernels are compiled once for each instruction set, and so are decode_scales() and load(): the source file
// of an instruction set includes this header after it has chosen its compiler target.
#pragma once

#include "spectr/gguf/quant/iq4_nl.h"
#include "spectr/gguf/quant/iq4_xs.h"
#include "spectr/gguf/quant/plain.h"
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
#include "spectr/gguf/tensor_type.h"

namespace spectr {

template <class... Types>
struct TypeList {};

/// By their numbers in files.
using SupportedFormats = TypeList<quant::F32,     //
                                  quant::F16,     //
                                  quant::Q4_0,    //
                                  quant::Q4_1,    //
                                  quant::Q5_0,    //
                                  quant::Q5_1,    //
                                  quant::Q8_0,    //
                                  quant::Q2_K,    //
                                  quant::Q3_K,    //
                                  quant::Q4_K,    //
                                  quant::Q5_K,    //
                                  quant::Q6_K,    //
                                  quant::IQ4_NL,  //
                                  quant::IQ4_XS,  //
                                  quant::BF16>;

/// A format of numbers that share scales, as its QuantLayout says. Besides what the concept asks for it has
///
///     decode_scales<Lanes>()   scale() for all columns of a super-block and several rows, see panel_header.h
///     values                   what quants stand for where they are indices of a table of 16 signed bytes
template <class Format>
concept QuantFormat = requires(const std::uint8_t* file, const QuantBlock& block, QuantBlock& out, int i) {
  requires Format::format.elements == std::size_t{Format::layout.columns};
  requires Format::format.bytes == std::size_t{Format::layout.bytes()};
  Format::split(file, out);             // takes a super-block of a file apart
  QuantScale(Format::scale(block, i));  // of the columns [scale_columns · i, scale_columns · (i + 1))
};

/// A format of numbers that stand by themselves. Besides what the concept asks for it has
///
///     load<Lanes>()   a vector of numbers that follow one another
template <class Format>
concept PlainFormat = requires(const std::byte* file) {
  requires Format::format.elements == 1;
  float(Format::value(file));
};

/// Calls use(Format()) for the format of this type; does nothing where the type is not supported.
template <class Use>
constexpr void with_format(TensorType type, const Use& use) {
  [&]<class... Formats>(TypeList<Formats...>) {
    static_assert(((QuantFormat<Formats> != PlainFormat<Formats>) && ...));
    static_cast<void>(((type == Formats::format.type && (use(Formats()), true)) || ...));
  }(SupportedFormats());
}

/// Whether the type is in the list.
constexpr bool is_supported(TensorType type) {
  bool found = false;
  with_format(type, [&](auto) { found = true; });
  return found;
}

}  // namespace spectr
