// Prompt files: the accepted formats, and the errors for malformed files.
#include "apps/bench/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/benchmark/file.h"
#include "tests/support/data.h"

namespace spectr::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Prompt> read(const test::NamedFile& file, std::size_t limit = 0) {
  auto prompts = read_prompts(file.path(), limit);
  EXPECT_TRUE(prompts) << prompts.error().message;
  return prompts.value_or(std::vector<Prompt>{});
}

std::string failure(const test::NamedFile& file) {
  const auto prompts = read_prompts(file.path(), 0);
  return prompts ? "" : prompts.error().message;
}

TEST(Prompts, JsonLinesHavePromptsTurnsOrQuestions) {
  const test::NamedFile file("p.jsonl",
                             "{\"id\": 1, \"prompt\": \"One\"}\n"
                             "\n"
                             "{\"turns\": [\"Two\", \"and then\"], \"reference\": [\"good\", \"x\"]}\n"
                             "{\"question\": \"Three?\", \"answer\": \"3\"}");
  const auto prompts = read(file);
  ASSERT_EQ(prompts.size(), 3u);
  EXPECT_THAT(prompts[0].turns, ElementsAre("One"));
  EXPECT_EQ(prompts[0].reference, "");
  EXPECT_THAT(prompts[1].turns, ElementsAre("Two", "and then"));
  EXPECT_EQ(prompts[1].reference, "good");
  EXPECT_THAT(prompts[2].turns, ElementsAre("Three?"));
  EXPECT_EQ(prompts[2].reference, "3");
}

TEST(Prompts, JsonMayBeInstructionsOrQuestionsForSql) {
  const test::NamedFile file(
      "p.jsonl",
      "{\"instruction\": \"Translate\", \"input\": \"chat\", \"output\": \"cat\", \"category\": \"qa\"}\n"
      "{\"db_id\": \"zoo\", \"question\": \"How many?\", \"query\": \"SELECT 1\"}\n");
  const auto prompts = read(file);
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_THAT(prompts[0].turns, ElementsAre("Translate\n\nchat"));
  EXPECT_EQ(prompts[0].reference, "cat");
  EXPECT_EQ(prompts[0].category, "qa");
  EXPECT_THAT(prompts[1].turns, ElementsAre("How many?"));
  EXPECT_EQ(prompts[1].reference, "SELECT 1");
  EXPECT_EQ(prompts[1].database, "zoo");
}

TEST(Prompts, MayBeCutToTheirFirstWords) {
  std::vector<Prompt> prompts = {{{"  One two  three four", "and then"}}, {{"One"}}, {{"One two three "}}};
  keep_words(prompts, 3);
  EXPECT_THAT(prompts[0].turns, ElementsAre("  One two  three", "and then"));
  EXPECT_THAT(prompts[1].turns, ElementsAre("One"));
  EXPECT_THAT(prompts[2].turns, ElementsAre("One two three"));
}

TEST(Prompts, JsonMayBeAListOfObjects) {
  const test::NamedFile file("p.json",
                             "\n[{\"prompt\": \"One\"},\n {\"turns\": [\"Two\"]},\n {\"prompt\": \"3\"}]\n");
  ASSERT_EQ(read(file).size(), 3u);
  EXPECT_THAT(read(file, 2)[1].turns, ElementsAre("Two"));
  EXPECT_EQ(read(test::NamedFile("p.json", "\n{\"prompt\": \"One\"}\n{\"prompt\": \"Two\"}\n")).size(), 2u);
}

TEST(Prompts, CsvFieldsMayBeQuotedWithCommasQuotesAndLineBreaks) {
  const test::NamedFile file("p.csv",
                             "\"act\",\"prompt\"\r\n\"a\",\"say \"\"hi\"\", then\nleave\"\r\nb,plain\r\n");
  const auto prompts = read(file);
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_THAT(prompts[0].turns, ElementsAre("say \"hi\", then\nleave"));
  EXPECT_THAT(prompts[1].turns, ElementsAre("plain"));
}

TEST(Prompts, PlainTextHasAPromptPerLine) {
  const test::NamedFile file("p.txt", "One\r\n\n  \nTwo");
  const auto prompts = read(file);
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_THAT(prompts[0].turns, ElementsAre("One"));
  EXPECT_THAT(prompts[1].turns, ElementsAre("Two"));
}

TEST(Prompts, AByteOrderMarkIsNoPartOfThem) {
  const std::string mark = "\xEF\xBB\xBF";
  const struct {
    const char *name, *contents;
  } files[] = {{"p.json", "[{\"prompt\": \"One\"},\n{\"prompt\": \"Two\"}]"},
               {"p.jsonl", "{\"prompt\": \"One\"}\n{\"prompt\": \"Two\"}"},
               {"p.csv", "prompt\nOne\nTwo\n"},
               {"p.txt", "One\nTwo\n"}};
  for (const auto& f : files) {
    const auto prompts = read(test::NamedFile(f.name, mark + f.contents));
    ASSERT_EQ(prompts.size(), 2u) << f.name;
    EXPECT_THAT(prompts[0].turns, ElementsAre("One")) << f.name;
  }
  EXPECT_THAT(read(test::NamedFile("p.txt", "\xEF\xAC\x81n\n"))[0].turns, ElementsAre("\xEF\xAC\x81n"));
}

TEST(Prompts, MayComeThroughAPipe) {
  for (const std::string begin : {"", "\xEF\xBB\xBF"}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const std::string text = begin + "One\nTwo\n";
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    const auto prompts = read_prompts("/dev/fd/" + std::to_string(ends[0]), 0);
    ::close(ends[0]);
    ASSERT_TRUE(prompts) << prompts.error().message;
    ASSERT_EQ(prompts->size(), 2u);
    EXPECT_THAT((*prompts)[0].turns, ElementsAre("One"));
  }
}

TEST(Prompts, TheLimitTakesTheFirst) {
  const test::NamedFile file("p.txt", "One\nTwo\nThree\n");
  EXPECT_EQ(read(file, 2).size(), 2u);
  EXPECT_EQ(read(file, 9).size(), 3u);
}

TEST(Prompts, ErrorsNameFileLineAndReason) {
  const struct {
    const char *name, *contents, *message;
  } cases[] = {
      {"a.jsonl", "{\"prompt\": \"x\"}\n{\"prompt\":", "a.jsonl: line 2 is not JSON"},
      {"a.jsonl", "[1]", "line 1 is not a JSON object"},
      {"a.jsonl", "{\"text\": \"x\"}", "line 1 has neither 'prompt' nor 'turns' nor 'question'"},
      {"a.jsonl", "{\"prompt\": 7}", "line 1 'prompt' is not a string"},
      {"a.jsonl", "{\"turns\": \"x\"}", "line 1 'turns' is not a list of strings"},
      {"a.jsonl", "{\"turns\": [1]}", "line 1 'turns' is not a list of strings"},
      {"a.jsonl", "{\"turns\": []}", "has neither"},
      {"a.jsonl", "{\"prompt\": \"\"}", "line 1 its prompt is empty"},
      {"a.json", "\n\n{\"prompt\": 7}", "a.json: line 3 'prompt' is not a string"},
      {"a.json", "[{\"prompt\": \"x\"}, 7]", "a.json: entry 2 is not a JSON object"},
      {"a.json", "[{\"prompt\": \"x\"}", "a.json: the list is not JSON"},
      {"a.json", "[]", "a.json: there is no prompt in it"},
      {"a.csv", "act,text\na,b\n", "a.csv: no column 'prompt' among act, text"},
      {"a.csv", "prompt\n\"open\nand on", "line 2: a quote is never closed"},
      {"a.csv", "prompt\n\"a\"b\n", "line 2: a quote stands within a field"},
      {"a.csv", "prompt,b\nx\n", "line 2: 1 fields, the table has 2 columns"},
      {"a.txt", "\n\n", "a.txt: there is no prompt in it"},
      {"a.txt", "", "there is no prompt in it"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(failure(test::NamedFile(c.name, c.contents)), HasSubstr(c.message)) << c.contents;
  }
  EXPECT_THAT(read_prompts("/nowhere/p.jsonl", 0).error().message, HasSubstr("/nowhere/p.jsonl"));
  EXPECT_THAT(read_prompts("/tmp", 0).error().message, HasSubstr("is a directory"));
}

TEST(Prompts, PublicPromptSetsAreReadAsTheyAre) {
  const struct {
    const char* name;
    std::size_t prompts;
  } sets[] = {
      {"prompts/spec_bench.jsonl", 480}, {"prompts/mt_bench.jsonl", 80}, {"prompts/humaneval.jsonl", 164}};
  for (const auto& set : sets) {
    const auto file = find_data(set.name);
    if (!file) GTEST_SKIP() << "needs the extra data's " << set.name;
    const auto prompts = read_prompts(*file, 0);
    ASSERT_TRUE(prompts) << prompts.error().message;
    EXPECT_EQ(prompts->size(), set.prompts);
  }
  if (const auto file = find_data("prompts/chatgpt_prompts.csv")) {
    const auto prompts = read_prompts(*file, 3);
    ASSERT_TRUE(prompts) << prompts.error().message;
    EXPECT_TRUE(prompts->at(0).turns[0].starts_with("I want you to act as a linux terminal."));
  }
}

}  // namespace
}  // namespace spectr::bench
