#include "spectr/gguf/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string describe(const GgufWriter& writer) {
  const auto bytes = writer.bytes();
  const auto file = Gguf::parse(bytes, "folder/test.gguf");
  EXPECT_TRUE(file) << file.error().message;
  return describe(*file);
}

TEST(Inspect, DescribesAWholeFile) {
  GgufWriter file;
  file.set("general.architecture", "llama").set("llama.block_count", 3U).set("flag", true);
  file.set("epsilon", 1e-5F).set("ids", std::vector<std::int32_t>{1, -2}).set("offset", -5);
  file.tensor({.name = "token_embd.weight", .type = 8, .shape = {32, 100}});
  file.tensor({.name = "norm.weight", .shape = {32}});
  EXPECT_EQ(describe(file), R"(folder/test.gguf: GGUF version 3

6 metadata entries
  general.architecture = "llama"
  llama.block_count = 3
  flag = true
  epsilon = 1e-05
  ids = 2 x i32 [1, -2]
  offset = -5

2 tensors
  token_embd.weight                        Q8_0                32 x 100          3400 bytes
  norm.weight                              F32                       32           128 bytes

3232 parameters in 3528 bytes, 1 x F32, 1 x Q8_0
)");
}

TEST(Inspect, CutsLongStringsAndArrays) {
  const std::string text = describe(
      GgufWriter().set("text", std::string(5000, 'x')).set("list", std::vector<std::string>(9, "word")));
  EXPECT_THAT(text, HasSubstr("text = \"" + std::string(100, 'x') + "\"…\n"));
  EXPECT_THAT(text, HasSubstr(R"(list = 9 x string ["word", "word", "word", "word", "word", "word", …])"));
}

// Other readers execute a chat template (CVE-2024-34359, ggml-org/llama.cpp#19085); here it is text.
TEST(Inspect, ShowsHostileTextAsText) {
  const std::string text =
      describe(GgufWriter()
                   .set("tokenizer.chat_template", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")
                   .set("general.name", "line\n\x1b]0;title\a\xff")
                   .set("a\nb", 1U)
                   .tensor({.name = "t\r\x1b[2J", .shape = {1}}));
  EXPECT_THAT(text, HasSubstr("{% macro f() %}{{ f() }}"));
  EXPECT_THAT(text, HasSubstr(R"(general.name = "line\n\x1b]0;title\x07\xff")"));
  EXPECT_THAT(text, HasSubstr(R"(a\nb = 1)"));
  EXPECT_THAT(text, HasSubstr(R"(t\r\x1b[2J)"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Inspect, KnowsFormatsThatCannotBeMultiplied) {
  EXPECT_THAT(describe(GgufWriter().tensor({.name = "t", .type = 21, .shape = {256, 3}, .data_size = 330})),
              HasSubstr("IQ3_S                256 x 3           330 bytes"));
}

TEST(Inspect, DescribesAFileOfMetadataAlone) {
  EXPECT_THAT(describe(GgufWriter().set("a", 1e300)),
              HasSubstr("a = 1e+300\n\n0 tensors\n\n0 parameters in 0 bytes\n"));
}

}  // namespace
}  // namespace spectr
