// Forbidden tokens are read from the file.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/nn/read_spec.h"

namespace spectr {
namespace {

TEST(ForbiddenTokens, AreThoseThatTheFileSuppresses) {
  constexpr std::string_view key = "tokenizer.ggml.suppress_tokens";
  const auto forbidden = [](const GgufWriter& file) { return spec_of("llama", file).head.forbidden; };
  EXPECT_EQ(forbidden(tiny_llama()), (std::vector<Token>{}));
  EXPECT_EQ(forbidden(tiny_llama().set(key, std::vector<std::int32_t>{})), (std::vector<Token>{}));
  EXPECT_EQ(forbidden(tiny_llama().set(key, std::vector<std::int32_t>{3, 1, 3})), (std::vector<Token>{1, 3}));
  EXPECT_EQ(forbidden(tiny_llama().set(key, std::vector<std::int32_t>{-1, 4, 2, 1 << 30})),
            (std::vector<Token>{2}))
      << "those of the vocabulary";
  EXPECT_EQ(
      spec_of("llama", tiny_llama().set(key, std::vector<std::uint32_t>{2})).requirements.front().source,
      "tokenizer.ggml.suppress_tokens has 1 tokens");
  const auto with = [key](const auto& value) {
    return with_tensors(tiny_llama().set(key, value), tiny_tensors("llama"));
  };
  expect_error(with(std::vector<std::int32_t>{0, 1, 2, 3}), "tokenizer.ggml.suppress_tokens has all tokens");
  expect_error(with(3), "tokenizer.ggml.suppress_tokens is an integer, but must be an array");
  expect_error(with(std::vector<float>{1.0F}), "tokenizer.ggml.suppress_tokens is");
}

}  // namespace
}  // namespace spectr
