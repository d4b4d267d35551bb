#include "spectr/gguf/stored_format.h"

#include <gtest/gtest.h>

#include "spectr/gguf/tensor_type.h"

namespace spectr {
namespace {

TEST(StoredFormats, ThatCanBeMultipliedHaveTheirNamesAndOthersHaveOne) {
  std::size_t others = 0;
  for (std::uint32_t type = 0; type < 100; ++type) {
    const auto stored = stored_format(type);
    if (const auto multiplied = tensor_format(type)) {
      EXPECT_EQ(stored->name, multiplied->name);
    } else if (stored) {
      EXPECT_EQ(stored->type, type);
      EXPECT_FALSE(stored->name.empty());
      ++others;
    }
  }
  EXPECT_EQ(others, 6U);
  EXPECT_FALSE(stored_format(4)) << "no longer written";
}

}  // namespace
}  // namespace spectr
