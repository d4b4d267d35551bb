// Where the costs that `auto` goes by are kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "spectr/base/version.h"
#include "tests/cli/spectr.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CostFile : public testing::Test {
 protected:
  CostFile()
      : folder_(std::filesystem::temp_directory_path() / ("spectr-costs-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CostFile() override { std::filesystem::remove_all(folder_); }

  /// The file that is used where none is named.
  std::string path() const { return folder_ / "spectr" / "costs.json"; }

  Outcome automatic(const Arguments& more = {}) const {
    const Arguments text = {"-p", "Once upon a time", "-n", "8", "--seed", "1", "--method", "auto"};
    return spectr(generate() + text + more, {.variables = {{"XDG_CACHE_HOME", folder_.string()}}});
  }
  std::string contents() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

 private:
  std::filesystem::path folder_;
};

TEST_F(CostFile, IsMeasuredOnceAndThenRead) {
  EXPECT_THAT(automatic().err, HasSubstr("measuring what passes"));
  const std::string first = contents();
  EXPECT_THAT(automatic().err, Not(HasSubstr("measuring what passes")));
  EXPECT_EQ(contents(), first);
}

TEST_F(CostFile, OfAnotherFormIsMeasuredAgainUnlessItWasNamed) {
  ASSERT_EQ(automatic().status, 0);
  std::string strange = contents();
  strange.replace(strange.find("\"law\""), 5, "\"lore\"");
  write(strange);
  const Outcome named = automatic({"--cost-file", path()});
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, HasSubstr("is no pair of cost curves"));
  EXPECT_EQ(contents(), strange);

  const Outcome unnamed = automatic();
  EXPECT_EQ(unnamed.status, 0) << unnamed.err;
  EXPECT_THAT(unnamed.err, HasSubstr("measuring what passes"));
  EXPECT_THAT(contents(), HasSubstr("\"law\""));
}

TEST_F(CostFile, OfAnotherVersionIsMeasuredAgainAndKept) {
  ASSERT_EQ(automatic().status, 0);
  std::string older = contents();
  const std::string mine = "spectr " + std::string(version());
  older.replace(older.find(mine), mine.size(), "spectr 0.0.0");
  write(older);
  EXPECT_THAT(automatic().err, HasSubstr("measuring what passes"));
  EXPECT_THAT(contents(), HasSubstr("spectr 0.0.0"));
  EXPECT_THAT(contents(), HasSubstr(mine));
}

TEST_F(CostFile, ThatIsNoJsonIsNamed) {
  ASSERT_EQ(automatic().status, 0);
  write("no costs");
  const Outcome outcome = automatic();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr(path()));
}

}  // namespace
}  // namespace spectr::test
