// Tests of the output of --help and --help-all.
#include "apps/cli/flags/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "apps/cli/commands/commands.h"

namespace spectr::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Mode = CLI::AppFormatMode;

/// The program's parser as main sets it up.
class HelpTest : public testing::Test {
 protected:
  HelpTest() {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.set_help_flag("-h,--help", "short");
    app_.set_help_all_flag("--help-all", "all");
    for (const auto add :
         {add_generate, add_tokenize, add_detokenize, add_logits, add_embed, add_perplexity, add_inspect,
          add_models, add_check_pair, add_draft, add_law, add_plan, add_serve, add_chat, add_lab, add_bench})
      add(app_);
    collect(app_, "");
  }

  struct Command {
    const CLI::App* app;
    std::string parent;
    std::string name() const { return parent.empty() ? app->get_name() : parent + " " + app->get_name(); }
    std::string help(Mode mode) const { return app->help(parent, mode); }
  };

  void collect(const CLI::App& app, const std::string& parent) {
    if (app.get_prefix_command()) return;  // belongs to another program
    commands_.push_back({&app, parent});
    const std::string name = commands_.back().name();
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) collect(*one, name);
  }

  CLI::App app_{"About", "spectr"};
  std::vector<Command> commands_;
};

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

TEST_F(HelpTest, IsShortAndHasTwoExamples) {
  for (const Command& command : commands_) {
    const std::string text = command.help(Mode::Normal);
    SCOPED_TRACE(text);
    EXPECT_LE(std::ranges::count(text, '\n'), 29);
    EXPECT_THAT(text, HasSubstr("Usage: " + command.name()));
    EXPECT_THAT(text, HasSubstr("\nExamples:\n"));
    EXPECT_GE(std::ranges::count(text.substr(text.find("\nExamples:")), '\n'), 6);
    EXPECT_THAT(text, HasSubstr(command.name() + " --help-all"));
  }
}

TEST_F(HelpTest, HasEverythingWhereAllIsAskedFor) {
  for (const Command& command : commands_) {
    const std::string text = command.help(Mode::All);
    for (const CLI::Option* option : command.app->get_options()) {
      for (const std::string& name : option->get_lnames()) EXPECT_THAT(text, HasSubstr("--" + name));
      if (!option->get_envname().empty()) {
        EXPECT_THAT(text, HasSubstr("[" + option->get_envname() + "]"));
      }
    }
    for (const CLI::App* one : command.app->get_subcommands([](const CLI::App*) { return true; }))
      EXPECT_THAT(text, HasSubstr("\nUsage: " + command.name() + " " + one->get_name()));
    EXPECT_THAT(text, HasSubstr("\nExamples:\n"));
  }
}

TEST_F(HelpTest, FitsIntoAHundredColumns) {
  for (const Command& command : commands_) {
    for (const Mode mode : {Mode::Normal, Mode::All}) {
      std::istringstream text(command.help(mode));
      for (std::string line; std::getline(text, line);) {
        EXPECT_LE(columns(line), help_width) << command.name() << ": " << line;
        EXPECT_THAT(line, Not(testing::EndsWith(" "))) << command.name();
      }
    }
  }
}

TEST_F(HelpTest, OfEachCommandHasAPageWhoseOptionsExist) {
  for (const Command& command : commands_) {
    const std::string name = command.name();
    const HelpPage* page = help_page(name == "spectr" ? "" : name.substr(name.find(' ') + 1));
    ASSERT_NE(page, nullptr) << name;
    std::istringstream options{std::string(page->options)};
    for (std::string option; options >> option;)
      EXPECT_NE(command.app->get_option_no_throw(option), nullptr) << name << " " << option;
  }
}

TEST_F(HelpTest, PutsShortNamesOfSeveralLettersWithTheOthers) {
  const std::string text = app_.get_subcommand("generate")->help("spectr", Mode::All);
  EXPECT_THAT(text, HasSubstr("-md, --model-draft, --spec-draft-model FILE"));
  EXPECT_THAT(text, Not(HasSubstr("-md FILE:")));
}

}  // namespace
}  // namespace spectr::cli
