// The table of docs/server.md documents every field; every value in it is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "apps/support/json_input.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

struct Row {
  std::string field, paths, kind;
  std::vector<TestJson> accepted, refused;
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Returns the values between backquotes.
std::vector<TestJson> values_of(const std::string& cell) {
  std::vector<TestJson> values;
  for (std::size_t open = cell.find('`'); open != std::string::npos;) {
    const std::size_t close = cell.find('`', open + 1);
    values.push_back(TestJson::parse(cell.substr(open + 1, close - open - 1)));
    open = cell.find('`', close + 1);
  }
  return values;
}

std::vector<Row> table() {
  std::ifstream file(source_folder() / "docs/server.md");
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "| field | sent to | here | accepted | refused |") inside = true;
    if (!inside || line.starts_with("| field") || line.starts_with("|---")) continue;
    if (!line.starts_with('|')) break;
    std::vector<std::string> cells;
    for (std::size_t begin = 1; begin < line.size();) {
      const std::size_t end = line.find('|', begin);
      cells.push_back(trimmed(line.substr(begin, end - begin)));
      begin = end + 1;
    }
    rows.push_back({cells.at(0).substr(1, cells[0].size() - 2), cells.at(1), cells.at(2),
                    values_of(cells.at(3)), values_of(cells.at(4))});
  }
  return rows;
}

std::vector<std::string> paths_of(const Row& row) {
  const std::string chat = "/v1/chat/completions", completions = "/v1/completions", native = "/completion";
  if (row.paths == "chat") return {chat};
  if (row.paths == "completions") return {completions};
  if (row.paths == "completion") return {native};
  if (row.paths == "text") return {completions, native};
  EXPECT_EQ(row.paths, "all");
  return {chat, completions, native};
}

TestJson body_with(const std::string& path, const std::string& field, const TestJson& value) {
  TestJson body = TestJson::object();
  if (field != "n_predict") body["max_tokens"] = 1;  // n_predict means the same
  if (path.contains("chat")) {
    body["messages"] = {{{"role", "user"}, {"content", "a"}}};
  } else {
    body["prompt"] = "a";
  }
  body[field] = value;
  return body;
}

TEST(ShownValues, AreCutBetweenCharacters) {
  const std::string text = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";  // characters of 1, 2, 3 and 4 bytes
  const std::string expected[] = {"", "a", "a", "a\xc3\xa4", "a\xc3\xa4", "a\xc3\xa4"};
  for (std::size_t limit = 0; limit < std::size(expected); ++limit)
    EXPECT_EQ(shortened(text, limit), expected[limit] + "…") << limit;
  EXPECT_EQ(shortened(text, 9), text.substr(0, 6) + "…");
  EXPECT_EQ(shortened(text, 10), text);
}

class FieldsOfTheDocument : public WithServer<4> {};

TEST_F(FieldsOfTheDocument, AreServedAcceptedAndRefusedAsItSays) {
  const std::vector<Row> rows = table();
  ASSERT_GT(rows.size(), 100u);
  for (const Row& row : rows) {
    EXPECT_THAT(row.kind, testing::AnyOf("served", "neutral", "ignored", "unknown"));
    EXPECT_FALSE(row.accepted.empty()) << row.field;
    EXPECT_NE(row.refused.empty(), row.kind == "served" || row.kind == "neutral") << row.field;
    for (const std::string& path : paths_of(row)) {
      for (const TestJson& value : row.accepted) {
        const auto reply = server().post(path, body_with(path, row.field, value));
        EXPECT_EQ(reply.status, 200) << path << ' ' << row.field << ": " << value << '\n' << reply.body;
      }
      for (const TestJson& value : row.refused) {
        const auto reply = server().post(path, body_with(path, row.field, value));
        EXPECT_EQ(reply.status, 400) << path << ' ' << row.field << ": " << value << '\n' << reply.body;
        EXPECT_THAT(reply.body, testing::HasSubstr("'" + row.field)) << value;
      }
    }
  }
}

}  // namespace
}  // namespace spectr::server
