#include "spectr/model/stored_format.h"

#include <algorithm>
#include <iterator>

#include "spectr/kernels/tensor_type.h"

namespace spectr {
namespace {

// Facts about the format (ggml.h, ggml-common.h); numbers between them stand for formats that are no longer
// written, or that only live in memory.
constexpr StoredFormat unsupported[] = {
    {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74}, {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},  {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},       {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},  {39, "MXFP4", 32, 17},    {40, "NVFP4", 64, 36},
};

}  // namespace

std::optional<StoredFormat> stored_format(std::uint32_t type) {
  if (const auto supported = tensor_format(type)) {
    return StoredFormat{type, supported->name, supported->elements, supported->bytes};
  }
  const auto found = std::ranges::find(unsupported, type, &StoredFormat::type);
  if (found == std::end(unsupported)) return std::nullopt;
  return *found;
}

std::string supported_formats() {
  std::string names;
  for (const TensorFormat& format : tensor_formats()) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

}  // namespace spectr
