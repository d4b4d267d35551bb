#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spectr/nn/arch/architectures.h"
#include "tests/support/models/tiny_tensors.h"

namespace spectr {

inline Result<ModelSpec> load(const GgufWriter& writer, const std::string& name = "test.gguf") {
  const auto bytes = writer.bytes();
  const auto file = Gguf::parse(bytes, name);
  if (!file) return std::unexpected(file.error());
  return read_model_spec(*file);
}

/// Returns the spec of a file with all tensors that its metadata requires.
inline ModelSpec spec_of(const std::string& architecture, const GgufWriter& metadata,
                         const TinyShape& shape = {}) {
  const auto spec = load(with_tensors(metadata, tiny_tensors(architecture, shape)));
  EXPECT_TRUE(spec) << spec.error().message;
  return spec.value();
}

inline void expect_error(const GgufWriter& writer, const std::string& reason,
                         const std::string& name = "test.gguf") {
  const auto spec = load(writer, name);
  ASSERT_FALSE(spec) << "was accepted; expected: " << reason;
  EXPECT_THAT(spec.error().message, testing::StartsWith(name + ": "));
  EXPECT_THAT(spec.error().message, testing::HasSubstr(reason));
}

}  // namespace spectr
