#include "spectr/gguf/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "fuzz/walk_gguf.h"
#include "tests/support/data.h"
#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns a file with one metadata value of every type.
GgufWriter all_types() {
  GgufWriter file;
  file.set("u8", std::uint8_t{200}).set("u16", std::uint16_t{60000}).set("u32", 4'000'000'000U);
  file.set("u64", std::numeric_limits<std::uint64_t>::max());
  file.set("i8", std::int8_t{-100}).set("i16", std::int16_t{-30000}).set("i32", -2'000'000'000);
  file.set("i64", std::numeric_limits<std::int64_t>::min());
  file.set("f32", 0.5F).set("f64", 1e300).set("boolean", true).set("string", "text");
  file.set("strings", std::vector<std::string>{"a", "", "ccc"});
  file.set("reals", std::vector<float>{1, -2.5F}).set("none", std::vector<std::int32_t>{});
  return file;
}

class GgufTest : public testing::Test {
 protected:
  Gguf parse(const GgufWriter& writer) {
    bytes_ = writer.bytes();
    auto file = Gguf::parse(bytes_, "test.gguf");
    EXPECT_TRUE(file) << file.error().message;
    return *file;
  }
  template <class T>
  static std::string message(const Result<T>& result) {
    return result ? "no error" : result.error().message;
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST_F(GgufTest, ReadsBothVersions) {
  for (const std::uint32_t version : {2U, 3U}) {
    GgufWriter writer = tiny_llama();
    writer.version = version;
    const Gguf file = parse(writer);
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.tensors().size(), 2);
  }
}

TEST_F(GgufTest, KeepsKeysInTheOrderOfTheFile) {
  const Gguf file = parse(GgufWriter().set("b", 1U).set("a", 2U).set("c", 3U));
  EXPECT_THAT(file.keys(), ElementsAre("b", "a", "c"));
}

TEST_F(GgufTest, GivesIntegersOfAnyTypeWidened) {
  const Gguf file = parse(all_types().set("i32", 7));
  EXPECT_EQ(file.integer("u8"), 200);
  EXPECT_EQ(file.integer("u16"), 60000);
  EXPECT_EQ(file.integer("u32"), 4'000'000'000U);
  EXPECT_EQ(file.integer("u64"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(file.integer("i32"), 7);
  EXPECT_THAT(message(file.integer("i8")), HasSubstr("test.gguf: i8 is -100, but must not be negative"));
}

TEST_F(GgufTest, GivesTheOtherScalars) {
  const Gguf file = parse(all_types());
  EXPECT_EQ(file.real("f32"), 0.5);
  EXPECT_EQ(file.real("f64"), 1e300);
  EXPECT_EQ(file.boolean("boolean", false), true);
  EXPECT_EQ(file.string("string"), "text");
}

TEST_F(GgufTest, GivesArrays) {
  const Gguf file = parse(all_types());
  EXPECT_THAT(*file.strings("strings"), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(*file.reals("reals"), ElementsAre(1, -2.5F));
  EXPECT_THAT(*file.integers("none"), IsEmpty());
}

TEST_F(GgufTest, WidensIntegerArraysOfEveryType) {
  GgufWriter writer;
  writer.set("u8", std::vector<std::uint8_t>{255}).set("i8", std::vector<std::int8_t>{-1});
  writer.set("u16", std::vector<std::uint16_t>{65535}).set("i16", std::vector<std::int16_t>{-1});
  writer.set("u32", std::vector<std::uint32_t>{~0U}).set("i32", std::vector<std::int32_t>{-1});
  writer.set("u64", std::vector<std::uint64_t>{1}).set("i64", std::vector<std::int64_t>{-1});
  writer.set("large", std::vector<std::uint64_t>{1ULL << 63});
  const Gguf file = parse(writer);
  EXPECT_THAT(*file.integers("u8"), ElementsAre(255));
  EXPECT_THAT(*file.integers("u16"), ElementsAre(65535));
  EXPECT_THAT(*file.integers("u32"), ElementsAre(4294967295));
  EXPECT_THAT(*file.integers("u64"), ElementsAre(1));
  for (const auto* key : {"i8", "i16", "i32", "i64"}) EXPECT_THAT(*file.integers(key), ElementsAre(-1));
  EXPECT_THAT(message(file.integers("large")), HasSubstr("large holds a number of 2^63 or more"));
}

TEST_F(GgufTest, AnAbsentKeyIsItsDefaultOrAnError) {
  const Gguf file = parse(all_types());
  EXPECT_EQ(file.find("absent"), nullptr);
  EXPECT_EQ(file.integer("absent", 5), 5);
  EXPECT_EQ(file.real("absent", 0.25), 0.25);
  EXPECT_EQ(file.boolean("absent", true), true);
  EXPECT_EQ(file.string("absent", "other"), "other");
  EXPECT_THAT(*file.strings("absent"), IsEmpty());
  EXPECT_THAT(*file.reals("absent"), IsEmpty());
  EXPECT_THAT(*file.integers("absent"), IsEmpty());
  EXPECT_EQ(message(file.integer("absent")), "test.gguf: absent is missing");
  EXPECT_EQ(message(file.real("absent")), "test.gguf: absent is missing");
  EXPECT_EQ(message(file.string("absent")), "test.gguf: absent is missing");
}

TEST_F(GgufTest, AValueOfAnotherTypeIsAnErrorThatNamesBoth) {
  const Gguf file = parse(all_types());
  EXPECT_EQ(message(file.integer("f32")), "test.gguf: f32 is a real number, but must be an integer");
  EXPECT_EQ(message(file.integer("string", 1)), "test.gguf: string is a string, but must be an integer");
  EXPECT_EQ(message(file.real("u8")), "test.gguf: u8 is an integer, but must be a real number");
  EXPECT_EQ(message(file.boolean("i8", true)), "test.gguf: i8 is an integer, but must be a boolean");
  EXPECT_EQ(message(file.string("boolean")), "test.gguf: boolean is a boolean, but must be a string");
  EXPECT_EQ(message(file.string("reals")), "test.gguf: reals is an array of type f32, but must be a string");
  EXPECT_EQ(message(file.strings("string")),
            "test.gguf: string is a string, but must be an array of strings");
  EXPECT_EQ(message(file.strings("reals")),
            "test.gguf: reals is an array of type f32, but must be an array of strings");
  EXPECT_EQ(message(file.reals("strings")),
            "test.gguf: strings is an array of type string, but must be an array of type f32");
  EXPECT_EQ(message(file.integers("reals")),
            "test.gguf: reals is an array of type f32, but must be an array of integers");
}

TEST_F(GgufTest, FindsTensorsWithShapeTypeAndBytes) {
  GgufWriter writer;
  writer.tensor({.name = "vector", .type = 0, .shape = {3}});
  writer.tensor({.name = "matrix", .type = 8, .shape = {64, 2}});
  writer.tensor({.name = "cube", .type = 1, .shape = {2, 3, 4, 5}});
  const Gguf file = parse(writer);
  const GgufTensor* matrix = file.tensor("matrix");
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->type, 8);
  EXPECT_THAT(matrix->shape, ElementsAre(64, 2, 1, 1));
  EXPECT_EQ(matrix->bytes.size(), 2 * 2 * 34);
  EXPECT_EQ(file.tensor("vector")->rows(), 1);
  EXPECT_EQ(file.tensor("cube")->cols(), 2);
  EXPECT_EQ(file.tensor("cube")->rows(), 60);
  EXPECT_EQ(matrix->bytes.data() - file.tensor("vector")->bytes.data(), 32);
  EXPECT_EQ(file.tensor("other"), nullptr);
}

TEST_F(GgufTest, HonoursTheAlignment) {
  for (const std::uint32_t alignment : {8U, 64U, 4096U}) {
    GgufWriter writer;
    writer.alignment = alignment;
    writer.set("general.alignment", alignment);
    writer.tensor({.name = "a", .shape = {1}}).tensor({.name = "b", .shape = {1}});
    const Gguf file = parse(writer);
    EXPECT_EQ(file.tensor("b")->bytes.data() - file.tensor("a")->bytes.data(), alignment);
  }
}

TEST_F(GgufTest, NeedsNoTensors) {
  EXPECT_THAT(parse(GgufWriter().set("a", 1U)).tensors(), IsEmpty());
}

TEST(Gguf, OpensEveryRealFile) {
  const std::filesystem::path folder = extra_data_folder();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs the extra data's .";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const auto file = Gguf::open(entry.path());
    ASSERT_TRUE(file) << file.error().message;
    if (file->integer("split.no", 0) != 0) continue;  // only the first part has metadata
    EXPECT_TRUE(file->string("general.architecture")) << entry.path();
    if (!file->tensors().empty()) {
      const auto spec = read_model_spec(*file);
      const auto folder_of_file = entry.path().parent_path().filename();
      if (folder_of_file == "arch" || folder_of_file == "models") {
        EXPECT_TRUE(spec) << spec.error().message;
      } else if (!spec) {
        EXPECT_THAT(spec.error().message, testing::StartsWith(entry.path().string() + ": "))
            << "refused by name";
      }
    }
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(Gguf, AMissingFileIsAnError) {
  const auto file = Gguf::open("no/such/file.gguf");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("no/such/file.gguf: cannot be opened"));
}

}  // namespace
}  // namespace spectr
