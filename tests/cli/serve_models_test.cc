// Models of a folder and of a preset file.
#include "apps/cli/commands/serve/serve_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/cli/failure.h"
#include "tests/support/data.h"

namespace spectr::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ServeModels : public testing::Test {
 protected:
  ServeModels() : folder_(fs::path(testing::TempDir()) / ("spectr-models-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ServeModels() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text = "no model") const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  /// Returns the models of a command line.
  static std::vector<server::ServiceOptions> models_of(std::vector<std::string> arguments) {
    CLI::App app("", "spectr");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    ServeFlags flags;
    CLI::App& command = *app.add_subcommand("serve", "");
    flags.add(command);
    arguments.insert(arguments.begin(), "serve");
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return several_models(flags, command);
  }
  static std::string refusal_of(const std::vector<std::string>& arguments) {
    try {
      models_of(arguments);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(ServeModels, AreTheFilesOfAFolderAndItsSubfolders) {
  file("tiny.gguf");
  file("large-00001-of-00002.gguf");
  file("large-00002-of-00002.gguf");
  file("pair/model.gguf");
  const fs::path draft = find_data("models/spectr-stories-draft-0.6m-q8_0.gguf").value();
  fs::copy_file(draft, folder_ / "pair/draft-model.gguf");
  file("pair/mmproj-model.gguf");
  file("empty/readme.md");
  file("notes.txt");
  const auto models = models_of({"--models-dir", folder_.string()});
  ASSERT_EQ(models.size(), 3u);
  EXPECT_EQ(models[0].name, "large");
  EXPECT_EQ(models[0].engine.models.target, folder_ / "large-00001-of-00002.gguf");
  EXPECT_EQ(models[1].name, "pair");
  EXPECT_EQ(models[1].engine.models.target, folder_ / "pair/model.gguf");
  EXPECT_EQ(models[1].engine.models.drafts, std::vector{folder_ / "pair/draft-model.gguf"});
  EXPECT_EQ(models[1].source, "models_dir");
  EXPECT_EQ(models[2].name, "tiny");
}

TEST_F(ServeModels, TakeFlagsFromTheCommandLineThenFromTheirSectionThenFromTheSharedOne) {
  const std::string a = file("a.gguf"), b = file("b.gguf");
  const std::string preset =
      file("models.ini",
           "version = 1\n; shared\n[*]\nc = 100\nn-predict = 7\ntemp = 0.5\n\n"
           "[a]\nctx-size = 200\nLLAMA_ARG_N_PREDICT = 8\nalias = x, y\n"
           "[other]\nm = " +
               b + "\nnp = 3\nload-on-startup = true\nswa-full = false\njinja = true\n");
  const auto models = models_of({"--models-preset", preset, "--models-dir", folder_.string(), "--temp", "0"});
  ASSERT_EQ(models.size(), 3u);
  EXPECT_EQ(models[0].name, "a");
  EXPECT_EQ(models[0].source, "preset");
  EXPECT_EQ(models[0].engine.models.target, a);
  EXPECT_EQ(models[0].engine.models.context, 200u);
  EXPECT_EQ(models[0].defaults.limit, 8u);
  EXPECT_EQ(models[0].defaults.sampling.temperature, 0.0);
  EXPECT_EQ(models[0].aliases, (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(models[0].loads_at_start);
  EXPECT_EQ(models[1].name, "other");
  EXPECT_EQ(models[1].engine.models.context, 100u);
  EXPECT_EQ(models[1].defaults.limit, 7u);
  EXPECT_EQ(models[1].engine.slots.slots, 3u);
  EXPECT_TRUE(models[1].loads_at_start);
  EXPECT_FALSE(models[1].engine.models.load.kv.keep_all);
  EXPECT_EQ(models[2].name, "b") << "of the folder alone";
  EXPECT_EQ(models[2].engine.models.context, 0u);
}

TEST_F(ServeModels, DoNotReadTheVariablesOfTheServer) {
  file("a.gguf");
  ::setenv("LLAMA_ARG_SSL_CERT_FILE", "server.pem", 1);
  const std::string refusal = refusal_of({"--models-dir", folder_.string(), "--ssl-key-file", "key.pem"});
  ::unsetenv("LLAMA_ARG_SSL_CERT_FILE");
  EXPECT_EQ(refusal, "") << "no model lacks the key of the server's certificate";
}

TEST_F(ServeModels, OverrideVariablesByTheirSectionsAndSectionsByWhatIsTyped) {
  // The value of this variable is transformed when it is read, and the flag has the value of its variable.
  ::setenv("LLAMA_ARG_TOP_K", "-1", 1);
  ::setenv("LLAMA_ARG_CTX_SIZE", "64", 1);
  const std::string preset =
      file("models.ini", "[a]\nm = " + file("a.gguf") + "\ntop-k = 7\nc = 100\n[b]\nm = " + file("b.gguf") + "\n");
  const auto models = models_of({"--models-preset", preset, "--ctx-size", "64"});
  ::unsetenv("LLAMA_ARG_TOP_K");
  ::unsetenv("LLAMA_ARG_CTX_SIZE");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].defaults.sampling.top_k, 7u);
  EXPECT_EQ(models[1].defaults.sampling.top_k, 0u);
  EXPECT_EQ(models[0].engine.models.context, 64u);
}

TEST_F(ServeModels, AreRefusedByNameIfTheyCannotBeServed) {
  const std::string model = file("a.gguf");
  const auto preset = [&](const std::string& text) {
    return std::vector<std::string>{"--models-preset", file("models.ini", text)};
  };
  EXPECT_THAT(refusal_of(preset("[a]\nm = " + model + "\nport = 1\n")),
              HasSubstr("model [a]: --port is a flag of the server"));
  EXPECT_THAT(refusal_of(preset("[a]\nc = 100\n")), HasSubstr("model [a]: no model is named"));
  EXPECT_THAT(refusal_of(preset("[a]\nm = " + model + "\nnonsense = 1\n")), HasSubstr("nonsense"));
  EXPECT_THAT(refusal_of(preset("[a]\nm = " + model + "\nc = many\n")), HasSubstr("many"));
  EXPECT_THAT(refusal_of(preset("[a]\nm = /nowhere.gguf\n")), HasSubstr("/nowhere.gguf"));
  EXPECT_THAT(refusal_of(preset("[a]\nm = " + model + "\n[a]\n")), HasSubstr("line 3: there are two"));
  EXPECT_THAT(refusal_of(preset("[a]\nhello\n")), HasSubstr("line 2: neither"));
  EXPECT_THAT(refusal_of(preset("[a]\nm = " + model + "\nalias = b\n[b]\nm = " + model + "\n")),
              HasSubstr("two models are called b"));
  EXPECT_THAT(refusal_of(preset("")), HasSubstr("name no model"));
  EXPECT_THAT(refusal_of({"--models-dir", folder_.string(), "-m", model}), HasSubstr("-m is not given"));
}

}  // namespace
}  // namespace spectr::cli
