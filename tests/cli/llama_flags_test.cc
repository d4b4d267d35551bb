// The handling of every flag of llama.cpp's programs; the table of flags is in tests/data/flags/.
#include "apps/cli/flags/llama_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "tests/support/data.h"

namespace spectr::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

struct Row {
  Words names;
  std::size_t values = 0;
  std::string variable;
};

Words split(const std::string& text, char separator) {
  std::istringstream in(text);
  Words words;
  for (std::string word; std::getline(in, word, separator);) words.push_back(word);
  return words;
}

std::vector<Row> llama_cpp() {
  std::ifstream file(find_data("flags/llama_cpp.tsv").value());
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const Words cells = split(line, '\t');
    rows.push_back({split(cells.at(0), ' '), std::stoul(cells.at(1)), cells.at(2)});
  }
  return rows;
}

/// The commands that correspond to llama-completion, llama-cli and llama-server.
class LlamaFlagsTest : public testing::Test {
 protected:
  LlamaFlagsTest() {
    app_.set_help_flag("-h,--help", "help");
    app_.set_version_flag("--version", "0");
    add_generate(app_);
    add_chat(app_);
    add_serve(app_);
  }

  const CLI::App& command(const std::string& name) const { return *app_.get_subcommand(name); }

  Rewritten rewrite(const Words& arguments) const { return rewrite_legacy_flags(app_, arguments); }

  /// Returns the error message, or an empty string if there is none.
  std::string refusal(const Words& arguments) const {
    try {
      (void)rewrite(arguments);
      return "";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), Status::usage);
      return failure.what();
    }
  }

  CLI::App app_{"", "spectr"};
};

TEST_F(LlamaFlagsTest, TheTableIsWhole) {
  const auto rows = llama_cpp();
  EXPECT_EQ(rows.size(), 290u);
  EXPECT_EQ(std::ranges::count(rows, 2u, &Row::values), 1);
}

TEST_F(LlamaFlagsTest, NoneIsUnknownAndAllTakeTheirValues) {
  for (const char* name : {"generate", "chat", "serve"}) {
    for (const Row& row : llama_cpp()) {
      for (const std::string& flag : row.names) {
        SCOPED_TRACE(std::string(name) + " " + flag);
        Words arguments = {name, flag};
        arguments.insert(arguments.end(), row.values, "on");
        const std::size_t before = arguments.size();
        arguments.insert(arguments.end(), {"--temp", "1"});
        if (const std::string why = refusal(arguments); !why.empty()) {
          EXPECT_THAT(why, StartsWith(flag + " is "));
          EXPECT_THAT(why, Not(HasSubstr("expected")));
          continue;
        }
        const Words kept = rewrite(arguments).arguments;
        ASSERT_GE(kept.size(), 3u);
        EXPECT_EQ(kept.end()[-2], "--temp");
        EXPECT_TRUE(kept.size() == 3 || kept.size() == before + 2) << testing::PrintToString(kept);
        if (kept.size() == 3) continue;
        const bool is_of_program = kept[1] == "--version";
        EXPECT_TRUE(is_of_program || command(name).get_option_no_throw(kept[1]) != nullptr);
      }
    }
  }
}

TEST_F(LlamaFlagsTest, EveryVariableIsKnown) {
  std::vector<std::string> read = {"LLAMA_ARG_DRAFT_MAX"};  // a deprecated name, which is rewritten
  for (const char* name : {"generate", "chat", "serve"}) {
    for (const CLI::Option* option : command(name).get_options()) read.push_back(option->get_envname());
  }
  for (const LlamaFlags& row : llama_flags()) {
    for (const std::string_view name : words_of(row.variables)) read.emplace_back(name);
  }
  for (const Row& row : llama_cpp()) {
    if (!row.variable.starts_with("LLAMA_ARG_")) continue;
    EXPECT_TRUE(std::ranges::find(read, row.variable) != read.end()) << row.variable;
  }
}

TEST_F(LlamaFlagsTest, ThatAskForNothingAreLeftOut) {
  for (const char* line : {"-fa on",
                           "-fa off",
                           "-fa auto",
                           "-fa",
                           "--no-mmap",
                           "--mlock",
                           "-cb",
                           "--no-webui",
                           "--no-ui",
                           "--no-warmup",
                           "--no-context-shift",
                           "--kv-unified",
                           "--props",
                           "-tb 8",
                           "--log-disable",
                           "--log-prefix",
                           "--log-timestamps",
                           "--log-colors off",
                           "--log-file x",
                           "--log-verbosity 3",
                           "--prio 2",
                           "--poll 50",
                           "--cache-reuse 256",
                           "--offline",
                           "--jinja",
                           "--slots",
                           "-b 2048",
                           "-ub 512",
                           "-b 512",
                           "--spec-draft-p-min 0.00",
                           "--keep 0",
                           "-dt 0.1",
                           "-sm layer",
                           "-mg 0"}) {
    Words arguments = split(line, ' ');
    arguments.insert(arguments.begin(), "serve");
    EXPECT_EQ(refusal(arguments), "");
    EXPECT_THAT(rewrite(arguments).arguments, ElementsAre("serve")) << line;
    EXPECT_LE(rewrite(arguments).notes.size(), 1u);
  }
}

TEST_F(LlamaFlagsTest, ThatAskForWhatIsNotDoneAreRefusedWithWhatToUseInstead) {
  const std::pair<const char*, const char*> cases[] = {
      {"--lora a.gguf", "merge them into the file"},
      {"--mmproj a.gguf", "images, audio and video are not read"},
      {"-sm row", "--split row|layer"},
      {"-b 0", "-b is not supported"},
      {"-md a -td 2 -t 4", "-td is not supported: the draft uses the target's setting"},
      {"--context-shift", "give a larger -c"},
      {"-p text", "clients send the prompts"}};
  for (const auto& [line, reason] : cases) {
    Words arguments = split(line, ' ');
    arguments.insert(arguments.begin(), "serve");
    EXPECT_THAT(refusal(arguments), HasSubstr(reason)) << line;
  }
}

TEST_F(LlamaFlagsTest, OfDraftsMayRepeatWhatTheTargetHas) {
  EXPECT_THAT(rewrite({"serve", "-td", "4", "-t", "4"}).arguments, ElementsAre("serve", "-t", "4"));
  EXPECT_EQ(refusal({"serve", "--cache-type-k=q8_0", "-ctkd", "q8_0"}), "");
  EXPECT_THAT(refusal({"serve", "-ctkd", "q8_0"}), HasSubstr("-ctkd is not supported"));
}

TEST_F(LlamaFlagsTest, OfDraftsMayRepeatWhatAVariableSaysOfTheTarget) {
  setenv("LLAMA_ARG_CTX_SIZE", "64", 1);
  const std::string same = refusal({"serve", "-cd", "64"}), other = refusal({"serve", "-cd", "128"}),
                    flag = refusal({"serve", "-cd", "64", "-c", "128"});
  unsetenv("LLAMA_ARG_CTX_SIZE");
  EXPECT_EQ(same, "");
  EXPECT_THAT(other, HasSubstr("-cd is not supported"));
  EXPECT_THAT(flag, HasSubstr("-cd is not supported"));
}

TEST_F(LlamaFlagsTest, AreToldOnceWhereSomethingIsNotDone) {
  EXPECT_THAT(rewrite({"serve", "--mlock", "--no-mmap"}).notes,
              ElementsAre("--mlock: the model's memory is not locked"));
  EXPECT_THAT(rewrite({"serve", "--jinja", "-fa", "on"}).notes, ElementsAre());
}

TEST_F(LlamaFlagsTest, MeanWhatTheCommandAtHandDoes) {
  EXPECT_THAT(rewrite({"chat", "-cnv"}).arguments, ElementsAre("chat"));
  EXPECT_THAT(refusal({"generate", "-cnv"}), HasSubstr("use spectr chat for a conversation"));
  EXPECT_THAT(rewrite({"serve", "-v"}).arguments, ElementsAre("serve", "--verbose"));
  EXPECT_THAT(rewrite({"serve", "-rea", "off"}).arguments, ElementsAre("serve", "--reasoning", "off"));
  EXPECT_THAT(rewrite({"serve", "--cors-origins=localhost"}).arguments,
              ElementsAre("serve", "--cors=localhost"));
  EXPECT_EQ(refusal({"generate", "--port", "80"}),
            "--port is a flag of spectr serve, not of spectr generate");
  EXPECT_EQ(refusal({"generate", "-np", "8"}), "-np is a flag of spectr serve, not of spectr generate");
}

TEST_F(LlamaFlagsTest, AreNotLookedForInValues) {
  EXPECT_THAT(rewrite({"generate", "-p", "-fa", "-n", "1"}).arguments,
              ElementsAre("generate", "-p", "-fa", "-n", "1"));
  EXPECT_THAT(rewrite({"generate", "--", "-fa"}).arguments, ElementsAre("generate", "--", "-fa"));
}

TEST_F(LlamaFlagsTest, ArePickedFromTheArgumentsOfALargerCommand) {
  CLI::App some;
  std::string model, numa;
  bool shard = false;
  some.add_option("-m,--model", model);
  some.add_option("--numa", numa);
  some.add_flag("--shard", shard);
  EXPECT_THAT(pick_options(some, {"serve", "-m", "a", "--lora", "b", "-fa", "on", "-l", "5+1", "--shard"}),
              ElementsAre("-m", "a", "--shard"));
}

}  // namespace
}  // namespace spectr::cli
