#include "spectr/model/stored_format.h"

#include <gtest/gtest.h>

#include "spectr/kernels/tensor_type.h"

namespace spectr {
namespace {

TEST(StoredFormats, AreEitherMultipliedOrListedAsUnsupported) {
  for (const StoredFormat& format : unsupported_formats()) {
    EXPECT_FALSE(tensor_format(format.type)) << format.name;
    EXPECT_EQ(stored_format(format.type)->name, format.name);
  }
  for (const TensorFormat& format : tensor_formats()) {
    EXPECT_EQ(stored_format(static_cast<std::uint32_t>(format.type))->name, format.name);
  }
  EXPECT_FALSE(stored_format(4)) << "no longer written";
}

}  // namespace
}  // namespace spectr
