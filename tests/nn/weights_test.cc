// A file's tensors must exist with the shapes that its metadata requires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/transformer.h"
#include "tests/support/allocations.h"
#include "tests/support/data.h"
#include "tests/support/models/tiny_tensors.h"

namespace spectr {
namespace {

using testing::HasSubstr;

using Tensors = std::vector<WrittenTensor>;

Tensors llama_tensors() {
  return tiny_tensors("llama");
}

Tensors llama_and(const WrittenTensor& tensor) {
  Tensors all = llama_tensors();
  all.push_back(tensor);
  return all;
}

/// Returns the error, or "" if the model loads.
std::string load_error(const Tensors& tensors, GgufWriter writer = tiny_llama()) {
  const auto bytes = with_tensors(std::move(writer), tensors).bytes();
  auto file = Gguf::parse(bytes, "tiny.gguf");
  if (!file) return file.error().message;
  ThreadPool pool(1);
  const auto model = Transformer::load(std::move(*file), std::make_shared<CpuBackend>(pool));
  return model ? "" : model.error().message;
}

class WeightsOf : public testing::TestWithParam<std::string> {
 protected:
  Tensors all_ = tiny_tensors(GetParam());

  std::string error_of(const Tensors& tensors) const { return load_error(tensors, tiny_model(GetParam())); }
};

TEST_P(WeightsOf, AWholeFileLoads) {
  EXPECT_EQ(error_of(all_), "");
}

TEST_P(WeightsOf, EveryMissingTensorIsNamed) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Tensors tensors = all_;
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(error_of(tensors), "tiny.gguf: tensor " + all_[i].name + " is missing");
  }
}

TEST_P(WeightsOf, EveryWrongShapeIsNamed) {
  for (std::size_t i = 1; i < all_.size(); ++i) {
    for (std::size_t dimension = 0; dimension < all_[i].shape.size(); ++dimension) {
      Tensors tensors = all_;
      tensors[i].shape[dimension] += 8;
      const std::string error = error_of(tensors);
      EXPECT_THAT(error, HasSubstr("tiny.gguf: tensor " + all_[i].name));
      EXPECT_THAT(error, HasSubstr("expected"));
    }
  }
}

TEST_P(WeightsOf, ATensorThatNobodyUsesIsRefused) {
  for (const std::string name : {"blk.1.attn_norm.weight", "blk.0.attn_q_norm.bias", "other"}) {
    Tensors tensors = all_;
    tensors.push_back({.name = name, .shape = {8}});
    EXPECT_EQ(error_of(tensors),
              fmt::format("tiny.gguf: tensor \"{}\" is not used by {} with 1 layers", name, GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, WeightsOf,
                         testing::Values("llama", "qwen2", "qwen3", "smollm3", "granite", "olmo2", "gpt2",
                                         "gptneox", "qwen3moe", "gemma2", "gemma3", "bert", "nomic-bert"),
                         [](const auto& family) {
                           std::string name = family.param;
                           std::erase(name, '-');
                           return name;
                         });

// For files of all further families, each tensor is required, and unknown tensors are refused.
TEST(Weights, OfFurtherFamiliesAreAllAskedFor) {
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_folder() / "tests/data/arch2")) {
    if (entry.path().extension() != ".gguf") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto read = [&text] {
      const auto file = Gguf::parse(std::as_bytes(std::span(text)), "some.gguf");
      return file ? read_model_spec(*file) : std::unexpected(file.error());
    };
    ASSERT_TRUE(read());
    const Gguf whole = Gguf::parse(std::as_bytes(std::span(text)), "some.gguf").value();
    std::vector<std::string> names;
    for (const GgufTensor& tensor : whole.tensors()) names.emplace_back(tensor.name);
    for (const std::string& name : names) {
      const std::uint64_t size = name.size();
      const std::string length(reinterpret_cast<const char*>(&size), sizeof size);
      const std::size_t at = text.find(length + name) + length.size();
      text[at] = 'x';
      const auto refused = read();
      ASSERT_FALSE(refused) << entry.path() << " without " << name;
      // If a file may have an alternative tensor, the error says that the alternative is missing.
      EXPECT_THAT(refused.error().message,
                  testing::AnyOf(testing::EndsWith(" is missing"), HasSubstr("tensor \"x" + name.substr(1))));
      text[at] = name.front();
    }
  }
}

TEST(Weights, OptionalTensorsAreCheckedToo) {
  const auto with = [](const WrittenTensor& tensor) { return load_error(llama_and(tensor)); };
  EXPECT_EQ(with({.name = "output.weight", .shape = {8, 4}}), "");
  EXPECT_THAT(with({.name = "output.weight", .shape = {8, 5}}), HasSubstr("output.weight"));
  EXPECT_EQ(with({.name = "blk.0.attn_q.bias", .shape = {8}}), "");
  EXPECT_THAT(with({.name = "blk.0.attn_q.bias", .shape = {9}}), HasSubstr("blk.0.attn_q.bias"));
  EXPECT_THAT(with({.name = "rope_freqs.weight", .shape = {3}}), HasSubstr("rope_freqs.weight"));
  EXPECT_THAT(with({.name = "rope_freqs.weight", .shape = {2}}), HasSubstr("rope_freqs.weight"));  // zeros
}

TEST(Weights, ExpertsAreAsManyAsTheKeysSay) {
  Tensors tensors = tiny_tensors("qwen3moe", {.experts = 5});
  EXPECT_EQ(load_error(tensors, tiny_model("qwen3moe")),
            "tiny.gguf: tensor blk.0.ffn_gate_inp.weight is 5 × 8, expected 4 × 8");
  tensors = tiny_tensors("qwen3moe");
  for (WrittenTensor& tensor : tensors) {
    if (tensor.name == "blk.0.ffn_up_exps.weight") tensor.shape = {8, 32, 2};  // the same number of elements
  }
  EXPECT_EQ(
      load_error(tensors, tiny_model("qwen3moe")),
      "tiny.gguf: tensor blk.0.ffn_up_exps.weight has 2 experts, expected the 4 of qwen3moe.expert_count");
}

TEST(Weights, RoutersAreNotQuantized) {
  Tensors tensors = tiny_tensors("qwen3moe", {.head_dim = 16, .width = 32});
  for (WrittenTensor& tensor : tensors) {
    if (tensor.name == "blk.0.ffn_gate_inp.weight") tensor.type = 8;
  }
  EXPECT_EQ(load_error(tensors, tiny_model("qwen3moe").set("qwen3moe.embedding_length", 32U)),
            "tiny.gguf: tensor blk.0.ffn_gate_inp.weight is Q8_0, but routers must be F32, F16 or BF16");
}

TEST(Weights, AFormatThatIsNotSupportedIsNamed) {
  Tensors tensors = llama_tensors();
  for (WrittenTensor& tensor : tensors) {
    if (tensor.name != "blk.0.attn_q.weight") continue;
    tensor = {.name = tensor.name, .type = 25, .shape = {8, 8}, .data_size = 128};
  }
  const std::string error = load_error(tensors);
  EXPECT_THAT(error,
              HasSubstr("tiny.gguf: tensor blk.0.attn_q.weight is I16; supported are F32, F16, Q4_0, "));
  EXPECT_THAT(error, testing::EndsWith(", BF16, TQ1_0, TQ2_0, MXFP4, Q1_0, Q2_0"));
}

/// Returns how many kilobytes of a file are resident in this process.
std::size_t resident(const std::filesystem::path& path) {
  std::ifstream maps("/proc/self/smaps");
  std::size_t kilobytes = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) ours = line.ends_with(path.filename().string());
    if (ours && line.starts_with("Rss:")) kilobytes += std::stoul(line.substr(4));
  }
  return kilobytes;
}

TEST(Weights, ThatWereRepackedAreNotInMemoryTwice) {
  const auto path = *find_data("models/spectr-stories-7m-q8_0.gguf");
  ThreadPool pool(1);
  Gguf file = Gguf::open(path).value();
  const auto whole = std::filesystem::file_size(path) / 1024;
  std::ptrdiff_t ones = 0;
  for (const GgufTensor& tensor : file.tensors()) ones += std::ranges::count(tensor.bytes, std::byte{1});
  EXPECT_GT(ones, 0);  // all were read
  if (resident(path) < whole / 2) GTEST_SKIP() << "the system does not tell what memory holds";
  const auto model = Transformer::load(std::move(file), std::make_shared<CpuBackend>(pool));
  ASSERT_TRUE(model);
  EXPECT_LT(resident(path), whole / 5);
}

TEST(Weights, TellHowManyOfThemAreLoaded) {
  for (const Slimming& slimming : {Slimming{}, Slimming{.type = TensorType::q4_0}}) {
    ThreadPool pool(1);
    Gguf file = Gguf::open(*find_data("models/spectr-stories-7m-q8_0.gguf")).value();
    const std::uint64_t in_file = file.tensor_bytes();
    std::vector<std::uint64_t> told;
    LoadSettings settings{.slimming = slimming};
    settings.progress = [&](std::uint64_t done, std::uint64_t all) {
      EXPECT_EQ(all, in_file);
      told.push_back(done);
    };
    ASSERT_TRUE(Transformer::load(std::move(file), std::make_shared<CpuBackend>(pool), settings));
    EXPECT_EQ(told.front(), 0);
    EXPECT_EQ(told.back(), in_file);
    EXPECT_TRUE(std::ranges::is_sorted(told));
    EXPECT_GT(told.size(), 10);
  }
}

TEST(Weights, ForWhichThereIsNoMemoryAreAnError) {
  ThreadPool pool(1);
  Gguf file = Gguf::open(*find_data("models/spectr-stories-7m-q8_0.gguf")).value();
  const std::uint64_t bytes = file.tensor_bytes();
  const test::ScarceMemory scarce(std::size_t{1} << 20);
  const auto model = Transformer::load(std::move(file), std::make_shared<CpuBackend>(pool));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("spectr-stories-7m-q8_0.gguf: there is no memory for the"));
  EXPECT_THAT(model.error().message, HasSubstr(fmt::format(" {} bytes", bytes)));
}

TEST(Weights, AnUnknownArchitectureIsNamed) {
  GgufWriter writer = tiny_llama();
  writer.set("general.architecture", "mamba");
  EXPECT_THAT(load_error(llama_tensors(), writer), HasSubstr("mamba"));
}

}  // namespace
}  // namespace spectr
