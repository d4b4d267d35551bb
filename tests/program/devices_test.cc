// Models on devices from the command line, with a driver that runs kernels on fibers; and the errors if a
// device is unavailable or is lost.
#include <gmock/gmock.h>

#include <string>

#include "spectr/backend/cuda/kernel_image.h"
#include "tests/program/spectr.h"
#include "tests/server/http_client.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;

/// Returns an environment with that driver and without Vulkan; `words` describe its devices.
Surroundings with_driver(const std::string& words = "") {
  return {.variables = {{"LD_LIBRARY_PATH", mock_cuda_folder()},
                        {"SPECTR_MOCK_CUDA", words},
                        {"VK_DRIVER_FILES", "/nonexistent"},
                        {"VK_ICD_FILENAMES", "/nonexistent"}}};
}

/// Returns the command for a text of the smallest bundled model.
Arguments small_text(const Arguments& more) {
  return Arguments{"generate", "-m", stranger(), "-p", "Once upon a time", "-n", "3", "--temp", "0"} + more;
}

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::has_kernel_images()) GTEST_SKIP() << "this build has no kernels for GPUs";
  }
};

TEST_F(Devices, PassesAreMeasuredBesideACopyThere) {
  const Outcome outcome =
      spectr({"bench", "widths", "-m", stranger(), "--device", "CUDA0", "--widths", "1", "-r", "1", "--json"},
             with_driver());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json told = Json::parse(outcome.out);
  EXPECT_EQ(told["device"], "CUDA0");
  EXPECT_GT(told["read_gbps"], 0.0);
  EXPECT_TRUE(told["integer_gops"].is_null());
}

TEST_F(Devices, AreListed) {
  const Outcome listed = spectr({"generate", "--list-devices"}, with_driver("devices=2"));
  EXPECT_EQ(listed.status, 0);
  EXPECT_EQ(listed.out,
            "Available devices:\n"
            "  CUDA0: Mock 0 (4096 MiB)\n"
            "  CUDA1: Mock 1 (4096 MiB)\n");
  const Outcome none = spectr({"generate", "--list-devices"}, with_driver("devices=0"));
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.out, "Available devices:\n");
  EXPECT_THAT(none.err,
              testing::StartsWith("the CUDA driver finds no devices: no CUDA-capable device is detected; "));
}

TEST_F(Devices, WriteTheTextOfTheProcessor) {
  const Outcome expected = spectr(small_text({}));
  ASSERT_EQ(expected.status, 0) << expected.err;
  for (const Arguments& device : {Arguments{"--device", "CUDA0"}, {"-ngl", "all"}}) {
    const Outcome found = spectr(small_text(device), with_driver());
    EXPECT_EQ(found.status, 0) << found.err;
    EXPECT_EQ(found.out, expected.out);
  }
}

TEST_F(Devices, AreNotUsedForLayersIfTheProcessorWasAskedFor) {
  Surroundings lost_at_once = with_driver("lose_at=1"), by_variable = lost_at_once;
  by_variable.variables["LLAMA_ARG_N_GPU_LAYERS"] = "99";
  for (const auto& [flags, around] :
       {std::pair{Arguments{"--device", "none", "-ngl", "99"}, lost_at_once},
        {Arguments{"-ngl", "all", "-dev", "none"}, lost_at_once},
        {Arguments{"--device", "none"}, by_variable},
        {Arguments{"-md", stranger(), "-dev", "none", "-devd", "none", "-ngld", "99"}, lost_at_once}}) {
    const Outcome found =
        spectr(small_text({"--method", flags.front() == "-md" ? "speculative" : "plain"}) + flags, around);
    EXPECT_EQ(found.status, 0) << found.err;
  }
}

TEST_F(Devices, MayDifferForTargetAndDraft) {
  const Arguments pair = small_text({"-md", stranger(), "-K", "2", "-L", "2"});
  const Outcome expected = spectr(pair);
  ASSERT_EQ(expected.status, 0) << expected.err;
  for (const Arguments& devices : {Arguments{"-dev", "CUDA0"},
                                   {"-dev", "CUDA0", "-devd", "CUDA1"},
                                   {"-dev", "CUDA1", "-devd", "none"},
                                   {"-ngl", "all", "-ngld", "0"},
                                   {"-devd", "CUDA1", "--draft-vocab", "256", "--draft-type", "q8_0"}}) {
    const Outcome found = spectr(pair + devices, with_driver("devices=2"));
    EXPECT_EQ(found.status, 0) << found.err;
    EXPECT_EQ(found.out, expected.out);
  }
}

TEST_F(Devices, DraftWithTrainedDrafters) {
  const Arguments text = {
      "generate", "-m", data("models/spectr-stories-7m-q8_0.gguf"), "-p", "Once upon a time", "-n", "3",
      "--temp",   "0"};
  const Outcome expected = spectr(text + Arguments{"--method", "plain"});
  ASSERT_EQ(expected.status, 0) << expected.err;
  const std::string eagle = data("models/trained/spectr-stories-7m-eagle3-q8_0.gguf"),
                    dflash = data("models/trained/spectr-stories-7m-dflash-q8_0.gguf");
  for (const Arguments& drafter :
       {Arguments{"-md", eagle}, {"-md", dflash}, {"-md", eagle, "-devd", "none"}}) {
    const Arguments drafts = {"-dev", "CUDA0", "--method", "conditional", "-K", "2", "-L", "2"};
    const Outcome found = spectr(text + drafter + drafts, with_driver());
    EXPECT_EQ(found.status, 0) << found.err;
    EXPECT_EQ(found.out, expected.out);
  }
}

TEST_F(Devices, EmbedTexts) {
  const Arguments embed = {"embed", "-m", stranger(), "-p", "Once upon a time", "--json"};
  const Outcome expected = spectr(embed), found = spectr(embed + Arguments{"-dev", "CUDA0"}, with_driver());
  ASSERT_EQ(found.status, 0) << found.err;
  const Json here = Json::parse(expected.out)["embedding"], there = Json::parse(found.out)["embedding"];
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i)
    EXPECT_NEAR(there[i].get<double>(), here[i].get<double>(), 1e-3) << "number " << i;
}

TEST_F(Devices, ThatLackSomethingSayWhat) {
  const Arguments text = small_text({"-dev", "CUDA0"});
  expect_error(text, "--device CUDA0: CUDA0 (Mock 0): compute capability 7.0, but 7.5 is needed",
               with_driver("major=7"));
  expect_error(text, "--device CUDA0: CUDA0 (Mock 0): the driver knows CUDA 11.8, but 12.1 is needed",
               with_driver("version=11080"));
  expect_error(text, "--device CUDA0: the CUDA driver finds no devices", with_driver("devices=0"));
  expect_error(small_text({"-dev", "CUDA7"}), "--device CUDA7: there is no such device; see --list-devices",
               with_driver());
  expect_error(text, "GB on the device, of which 0.0003 GB are free; --device none computes on the CPU",
               with_driver("bytes=300000"));
}

TEST_F(Devices, RefuseWhatTheyHaveNoKernelsFor) {
  expect_error(small_text({"-dev", "CUDA0", "--ranks", "2"}),
               "--device CUDA0: ranks share a model on the processor", with_driver());
  expect_error(small_text({"-dev", "CUDA0", "--profile"}),
               "--profile tells the processor's operations apart, not a device's", with_driver());
}

TEST_F(Devices, WithoutRoomForATextSaySo) {
  const Outcome ran = spectr(small_text({"-dev", "CUDA0"}), with_driver("bytes=1000000"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("there is no memory for a text of "));
}

TEST_F(Devices, ThatAreLostEndTheText) {
  const Outcome ran = spectr(small_text({"-dev", "CUDA0"}), with_driver("lose_at=90"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("CUDA0: the device was lost during a pass (unspecified launch failure)"));
}

TEST_F(Devices, ThatAreLostEndTheServer) {
  RunningProgram run(spectr_program(),
                     {"serve", "-m", stranger(), "--port", "0", "-dev", "CUDA0", "--method", "plain"},
                     with_driver("lose_at=300"));
  ASSERT_TRUE(says(run, "ready")) << run.err();
  const int port = port_of(run);
  const auto ask = [port](const char* method, const char* path, const char* body) {
    return server::ask("127.0.0.1", port, method, path, {{"Content-Type", "application/json"}}, body);
  };
  const server::HttpReply cut = ask("POST", "/completion", R"({"prompt": "Once", "n_predict": 50})");
  EXPECT_EQ(cut.status, 500);
  EXPECT_THAT(cut.body, HasSubstr("CUDA0: the device was lost during a pass"));
  EXPECT_TRUE(comes_true([&] { return ask("GET", "/health", "").status == 503; }));
  const Outcome ended = run.wait();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("CUDA0: the device was lost during a pass"));
}

}  // namespace
}  // namespace spectr::test
