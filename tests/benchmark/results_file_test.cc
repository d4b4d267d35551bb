// Finished rows survive a kill of the run at any time.
#include "apps/bench/results_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/benchmark/file.h"

namespace spectr::bench {
namespace {

using testing::HasSubstr;

ResultsFile open(const std::string& path) {
  auto file = ResultsFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

const Json key_a = {{"method", "a"}}, key_b = {{"method", "b"}};
const Json row_a = {{"speed", 0.1}, {"text", "\"}{ \u00e9"}},
           row_b = {{"speed", nullptr}, {"names", {"\u00e9"}}};

TEST(ResultsFile, FindsWhatAnEarlierRunAdded) {
  const test::NamedFile file("r.jsonl", "");
  ASSERT_TRUE(open(file.path()).add(key_a, row_a));
  ResultsFile again = open(file.path());
  EXPECT_EQ(again.find(key_a), row_a);
  EXPECT_EQ(again.find(key_b), std::nullopt);
  ASSERT_TRUE(again.add(key_b, row_b));
  EXPECT_EQ(again.find(key_b), row_b);
  EXPECT_EQ(open(file.path()).find(key_b), row_b);
}

TEST(ResultsFile, TellsModelsOfOneNameAndSizeApart) {
  for (const std::size_t bytes : {std::size_t{7}, std::size_t{1} << 20}) {
    const std::string contents(bytes, 'a');
    const test::NamedFile file("m.gguf", contents), same("m.gguf", contents),
        other("m.gguf", contents.substr(1) + 'b');
    EXPECT_EQ(identity_of(file.path()), identity_of(same.path()));
    EXPECT_NE(identity_of(file.path()), identity_of(other.path()));
  }
}

TEST(ResultsFile, EveryPrefixOfAFileHasItsWholeRows) {
  const test::NamedFile file("r.jsonl", "");
  ASSERT_TRUE(open(file.path()).add(key_a, row_a));
  const std::size_t first = test::contents_of(file.path()).size() - 1;  // without its newline
  ASSERT_TRUE(open(file.path()).add(key_b, row_b));
  const std::string whole = test::contents_of(file.path());
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const test::NamedFile cut("r.jsonl", whole.substr(0, length));
    ResultsFile results = open(cut.path());
    EXPECT_EQ(results.find(key_a).has_value(), length >= first);
    EXPECT_EQ(results.find(key_b).has_value(), length + 1 >= whole.size());
    // The run can be continued.
    ASSERT_TRUE(results.add(key_b, row_b));
    EXPECT_EQ(open(cut.path()).find(key_b), row_b);
    EXPECT_EQ(open(cut.path()).find(key_a).has_value(), length >= first);
  }
}

// The file ends as editors and programs of other systems leave it.
TEST(ResultsFile, KeepsACompleteLastRowThatHasNoLineBreak) {
  const std::string row = R"({"key":{"method":"a"},"row":{"speed":2}})";
  for (const std::string end : {"", " ", "\r", "\r\n"}) {
    const test::NamedFile file("r.jsonl", row + end);
    ResultsFile results = open(file.path());
    EXPECT_EQ(results.find(key_a), Json({{"speed", 2}})) << end;
    ASSERT_TRUE(results.add(key_b, row_b));
    const ResultsFile again = open(file.path());
    EXPECT_EQ(again.find(key_a), Json({{"speed", 2}}));
    EXPECT_EQ(again.find(key_b), row_b);
  }
}

TEST(ResultsFile, LeavesFilesOfOthersAlone) {
  const std::string row = R"({"key":1,"row":1})";
  for (const std::string& contents :
       {std::string("a diary"), std::string("a diary\n"), std::string("{\"key\": 1}\n"),
        std::string("{\"key\": 1}"), std::string("{\"key\": hello"), std::string("[]\n"), row + row,
        row + " and a note", row + "\n\n" + row}) {
    const test::NamedFile file("notes", contents);
    const auto results = ResultsFile::open(file.path());
    ASSERT_FALSE(results) << contents;
    EXPECT_THAT(results.error().message, HasSubstr("not a result of spectr bench"));
    EXPECT_EQ(test::contents_of(file.path()), contents);
  }
  EXPECT_THAT(ResultsFile::open("/nowhere/r.jsonl").error().message, HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace spectr::bench
