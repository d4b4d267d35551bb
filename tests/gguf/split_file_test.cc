#include "spectr/gguf/split_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/data.h"
#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SplitFile : public testing::Test {
 protected:
  SplitFile() {
    std::string name = testing::TempDir() + "split_file_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    write(0, first());
    for (const int number : {1, 2}) write(number, part(number));
  }
  ~SplitFile() override { fs::remove_all(folder_); }

  /// Returns part `number` of three, which has a tensor of its own.
  static GgufWriter part(int number) {
    return GgufWriter()
        .set("split.no", static_cast<std::uint16_t>(number))
        .set("split.count", std::uint16_t{3})
        .set("split.tensors.count", std::int32_t{3})
        .tensor({.name = fmt::format("t{}", number), .shape = {8, static_cast<std::uint64_t>(number + 1)}});
  }
  static GgufWriter first() { return part(0).set("general.architecture", "llama").set("general.name", "A"); }

  fs::path path(int number) const { return folder_ / fmt::format("m-{:05}-of-00003.gguf", number + 1); }
  void write(int number, const GgufWriter& writer) const {
    const auto bytes = writer.bytes();
    std::ofstream(path(number), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  /// Expects the error for any part that `named` names.
  void expect_error(int named, const std::string& reason) const {
    for (int number = 0; number < 3; ++number) {
      if (!fs::exists(path(number))) continue;
      const auto file = Gguf::open(path(number));
      ASSERT_FALSE(file) << reason;
      EXPECT_THAT(file.error().message, testing::StartsWith(path(named).string() + ": "));
      EXPECT_THAT(file.error().message, HasSubstr(reason));
    }
  }

  fs::path folder_;
};

TEST_F(SplitFile, AnyPartOpensAll) {
  for (int number = 0; number < 3; ++number) {
    const auto file = Gguf::open(path(number));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->name(), path(0).string());
    EXPECT_EQ(file->parts(), 3U);
    EXPECT_EQ(file->string("general.name", ""), "A");
    EXPECT_EQ(file->parameters(), 8U + 16U + 24U);
    for (const char* tensor : {"t0", "t1", "t2"}) EXPECT_NE(file->tensor(tensor), nullptr) << tensor;
    for (const GgufTensor& tensor : file->tensors()) file->forget(tensor.bytes);
    EXPECT_TRUE(refuse_split(*file));
  }
}

TEST_F(SplitFile, APartByItselfIsNotWhole) {
  const auto bytes = part(1).bytes();
  const auto alone = Gguf::parse(bytes, "m.gguf").value();
  EXPECT_EQ(alone.parts(), 1U);
  EXPECT_FALSE(refuse_split(alone));
}

TEST_F(SplitFile, AMissingPartIsNamed) {
  fs::remove(path(1));
  expect_error(1, "cannot be opened");
}

TEST_F(SplitFile, PartsThatChangedPlacesAreNamed) {
  fs::rename(path(1), folder_ / "x");
  fs::rename(path(2), path(1));
  fs::rename(folder_ / "x", path(2));
  const auto file = Gguf::open(path(0));
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message,
              HasSubstr("m-00002-of-00003.gguf: is part 2 of 3 by its name, but part 3 of 3 by split.no"));
}

TEST_F(SplitFile, APartWithAnotherNameIsAnError) {
  fs::rename(path(0), folder_ / "m.gguf");
  const auto file = Gguf::open(folder_ / "m.gguf");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("does not end in -00001-of-00003.gguf"));
}

TEST_F(SplitFile, AWholeFileWithAPartsNameIsAnError) {
  write(2, GgufWriter().tensor({.name = "t2", .shape = {8}}));
  expect_error(2, "is one of 3 parts by its name, but split.count is missing");
}

TEST_F(SplitFile, PartsOfOtherModelsAreNamed) {
  write(1, part(1).set("general.name", "B"));
  expect_error(1, "general.name is \"B\", but \"A\" in");
  write(1, part(1).tensor({.name = "t0", .shape = {8}}));
  expect_error(1, "tensor \"t0\" is in a part before this one");
  write(1, part(1).tensor({.name = "t9", .shape = {8}}));
  expect_error(0, "split.tensors.count is 3, but its 3 parts have 4 tensors");
}

TEST(RealSplitFile, HasTheTensorsOfTheWholeOne) {
  const fs::path folder = extra_data_folder() / "arch2" / "qwen3moe";
  if (!fs::exists(folder / "model-split-00002-of-00003.gguf"))
    GTEST_SKIP() << "needs the extra data's arch2/qwen3moe/model-split-00002-of-00003.gguf";
  const Gguf whole = Gguf::open(folder / "model.gguf").value();
  const Gguf split = Gguf::open(folder / "model-split-00002-of-00003.gguf").value();
  ASSERT_EQ(split.tensors().size(), whole.tensors().size());
  for (const GgufTensor& tensor : split.tensors()) {
    ASSERT_NE(whole.tensor(tensor.name), nullptr) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(whole.tensor(tensor.name)->bytes, tensor.bytes)) << tensor.name;
  }
}

}  // namespace
}  // namespace spectr
