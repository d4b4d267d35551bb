// Scores of answers: by references, by result rows, by an external program.
#include "apps/bench/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "apps/bench/sql/query_text.h"

namespace spectr::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the scores of the answers to each prompt.
Result<Scores> scores(const Scorer& scorer, const std::vector<Prompt>& prompts,
                      const std::vector<std::vector<std::string>>& texts) {
  std::vector<Answered> answered;
  for (std::size_t i = 0; i < prompts.size(); ++i) answered.push_back({&prompts[i], &texts[i]});
  return scorer.score(answered);
}

TEST(Scores, OfComparisonsAreThoseOfAnswersThatHaveAReference) {
  const std::vector<Prompt> prompts = {{{"a"}, "a cat"}, {{"b"}}, {{"c"}, "dog"}};
  const std::vector<std::vector<std::string>> texts = {{" a cat\n"}, {"x"}, {"a dog", "dog"}};
  EXPECT_THAT(*scores(exact_scorer(), prompts, texts), ElementsAre(1.0, std::nullopt, 0.0));
  EXPECT_THAT(*scores(rouge_scorer(), prompts, texts), ElementsAre(1.0, std::nullopt, 2.0 / 3.0));
}

TEST(Scores, OfAProgramAreTheNumbersThatItPrints) {
  const std::vector<Prompt> prompts = {{{"one", "two"}, "good", "math"}, {{"three"}}};
  const std::vector<std::vector<std::string>> texts = {{"it's\n\"x\"", "y"}, {"z"}};
  EXPECT_THAT(*scores(command_scorer("printf '7.5\\n-1e-3\\n'"), prompts, texts), ElementsAre(7.5, -1e-3));
  // The program reads one line per answer; the first line must be exactly this.
  const std::string line =
      R"({"prompt":["one","two"],"answers":["it's\n\"x\"","y"],"reference":"good","category":"math"})";
  const std::string check =
      "read -r first; [ \"$first\" = '" +
      std::string(
          R"({"prompt":["one","two"],"answers":["it'"'"'s\n\"x\"","y"],"reference":"good","category":"math"})") +
      "' ] && echo 1 || echo 0; wc -l";
  const auto found = scores(command_scorer(check), prompts, texts);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, ElementsAre(1.0, 1.0)) << line;  // one line remains
}

TEST(Scores, OfAProgramThatFailsAreAnError) {
  const std::vector<Prompt> prompts = {{{"one"}}};
  const std::vector<std::vector<std::string>> texts = {{"x"}};
  const auto failure = [&](const char* command) {
    const auto refused = scores(command_scorer(command), prompts, texts);
    return refused ? "" : refused.error().message;
  };
  EXPECT_EQ(failure("exit 3"), "--score command:exit 3: exit status 3");
  EXPECT_THAT(failure("echo good"), HasSubstr("line 1 is not a number: 'good'"));
  EXPECT_THAT(failure("echo 1; echo 2"), HasSubstr("2 numbers for 1 answers"));
  EXPECT_THAT(failure("true"), HasSubstr("0 numbers for 1 answers"));
  EXPECT_THAT(failure("echo nan"), HasSubstr("is not a number"));
}

TEST(Queries, AreFoundInAnswers) {
  EXPECT_EQ(query_of("The answer:\n```sql\nSELECT 1\n```\nbecause"), "SELECT 1");
  EXPECT_EQ(query_of("select a\nfrom b; select c"), "select a\nfrom b");
  EXPECT_EQ(query_of("With x as (select 1) select * from x\n\nThis selects"),
            "With x as (select 1) select * from x");
  EXPECT_EQ(query_of("preselected withdrawal"), "");
  EXPECT_TRUE(orders_rows("select a from b Order\n by a"));
  EXPECT_FALSE(orders_rows("select order_by from orders where order = 1"));
}

/// A folder of databases with `zoo`, which has two animals.
class Sql : public testing::Test {
 protected:
  Sql() {
    std::string name = testing::TempDir() + "databasesXXXXXX";
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "zoo");
    std::ofstream(folder_ / "zoo" / "schema.sql")
        << "CREATE TABLE animals (name TEXT, legs INT);\n"
           "INSERT INTO animals VALUES ('ant', 6), ('dog', 4), ('cat', 4);\n";
  }
  ~Sql() override { std::filesystem::remove_all(folder_); }

  static Prompt question(std::string reference) { return {{"Which?"}, std::move(reference), "", "zoo"}; }

  /// Returns the score of an answer to a question with this reference.
  Result<Scores> score(std::string reference, std::string answer) const {
    auto scorer = sql_scorer(folder_.string());
    if (!scorer) return std::unexpected(scorer.error());
    return scores(*scorer, {question(std::move(reference))}, {{std::move(answer)}});
  }

  std::filesystem::path folder_;
};

constexpr const char* four_legs = "SELECT name FROM animals WHERE legs = 4";

TEST_F(Sql, IsRightWhereItsRowsAre) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  EXPECT_THAT(*score(four_legs, "SELECT name FROM animals WHERE legs < 6 ORDER BY name"), ElementsAre(100.0));
  EXPECT_THAT(*score("SELECT count(*) FROM animals", "select 3.0;"), ElementsAre(100.0));
  EXPECT_THAT(*score(four_legs, "SELECT legs FROM animals WHERE legs = 4"), ElementsAre(0.0));
  EXPECT_THAT(*score(four_legs, "SELECT nothing FROM nowhere"), ElementsAre(0.0));
  EXPECT_THAT(*score(four_legs, "no query"), ElementsAre(0.0));
}

TEST_F(Sql, MindsTheOrderWhereTheReferenceGivesOne) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  const std::string sorted = std::string(four_legs) + " ORDER BY name";
  EXPECT_THAT(*score(sorted, std::string(four_legs) + " ORDER BY name DESC"), ElementsAre(0.0));
  EXPECT_THAT(*score(sorted, std::string(four_legs) + " ORDER BY 1"), ElementsAre(100.0));
}

TEST_F(Sql, CanOnlyRead) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  const auto other = folder_ / "other.db";
  EXPECT_THAT(*score(four_legs, "WITH x AS (SELECT 1) DELETE FROM animals"), ElementsAre(0.0));
  EXPECT_THAT(*score(four_legs, "SELECT load_extension('x')"), ElementsAre(0.0));
  EXPECT_FALSE(score("ATTACH '" + other.string() + "' AS o", four_legs));
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_F(Sql, ThatTakesForeverIsWrong) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  EXPECT_THAT(*score(four_legs,
                     "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) "
                     "SELECT count(*) FROM x"),
              ElementsAre(0.0));
}

// The sizes of values, results and intermediate sorts of a query are limited in bytes.
TEST_F(Sql, ThatTakesTooMuchMemoryIsWrong) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  const std::string numbers = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 100000) ";
  const std::pair<std::string, const char*> queries[] = {
      {numbers + "SELECT zeroblob(500000000) FROM x", "too big"},
      {numbers + "SELECT group_concat(printf('%09999d', n)) FROM x", "too big"},
      {numbers + "SELECT zeroblob(1000000) FROM x", "rows of more than 268435456 bytes"},
      {numbers + "SELECT n FROM x ORDER BY printf('%0999999d', n)", "out of memory"},
      {numbers + "SELECT count(DISTINCT printf('%0999999d', n)) FROM x", "out of memory"},
  };
  for (const auto& [query, reason] : queries) {
    EXPECT_THAT(*score(four_legs, query), ElementsAre(0.0)) << query;
    const auto refused = score(query, four_legs);
    ASSERT_FALSE(refused) << query;
    EXPECT_THAT(refused.error().message, HasSubstr(reason)) << query;
  }
  EXPECT_THAT(*score(four_legs, four_legs), ElementsAre(100.0)) << "what comes later has its memory";
}

TEST_F(Sql, NamesWhatIsMissing) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  EXPECT_THAT(score("SELECT wrong", four_legs).error().message,
              HasSubstr("the reference 'SELECT wrong' on database 'zoo': no such column"));
  EXPECT_THAT(sql_scorer("/nowhere").error().message, HasSubstr("/nowhere: is not a folder"));
  std::vector<Prompt> prompts = {question(four_legs)};
  prompts.front().database = "../zoo";
  EXPECT_THAT(show_tables(prompts, folder_.string()).error().message, HasSubstr("database '../zoo'"));
}

TEST_F(Sql, SeesTheTablesInThePrompt) {
  if (!sql_scorer(folder_.string())) GTEST_SKIP() << "built without SQLite";
  std::vector<Prompt> prompts = {question(four_legs), {{"Who?"}}};
  ASSERT_TRUE(show_tables(prompts, folder_.string()));
  EXPECT_EQ(prompts[0].turns.front(),
            "CREATE TABLE animals (name TEXT, legs INT);\n\n-- The SQLite query for: Which?\n");
  EXPECT_EQ(prompts[1].turns.front(), "Who?");
}

}  // namespace
}  // namespace spectr::bench
