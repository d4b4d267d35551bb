// Tools and tool choices that are given as JSON.
#include "spectr/engine/tools/tool_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;
using testing::HasSubstr;

constexpr const char* two_tools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "Weather of a \"city\"", "strict": true,
    "parameters": {"type": "object", "properties": {"zip": {"type": "integer"}, "city": {"type": "string"}}}}},
  {"function": {"name": "get_time"}}])";

TEST(ToolUse, KeepsNamesSchemasAndOrderOfMembers) {
  const ToolUse use = value_of(read_tool_use(two_tools, ""));
  ASSERT_EQ(use.tools.size(), 2u);
  EXPECT_EQ(use.tools[0].name, "get_weather");
  EXPECT_EQ(
      use.tools[0].definition,
      R"({"type":"function","function":{"name":"get_weather","description":"Weather of a \"city\"",)"
      R"("parameters":{"type":"object","properties":{"zip":{"type":"integer"},"city":{"type":"string"}}}}})");
  EXPECT_TRUE(use.tools[0].strict);
  EXPECT_EQ(use.tools[0].field, "tools[0].function.parameters");
  EXPECT_EQ(use.tools[1].parameters(), R"({"type":"object","properties":{}})");
  EXPECT_FALSE(use.tools[1].strict);
  EXPECT_TRUE(use.offered());
  EXPECT_TRUE(use.constrains()) << "a tool is strict";
}

TEST(ToolUse, ReadsEveryChoice) {
  EXPECT_EQ(value_of(read_tool_use(two_tools, "auto")).choice, ToolUse::Choice::automatic);
  const ToolUse none = value_of(read_tool_use(two_tools, "none"));
  EXPECT_FALSE(none.offered());
  EXPECT_FALSE(none.constrains());
  const ToolUse any = value_of(read_tool_use(two_tools, "required"));
  EXPECT_EQ(any.choice, ToolUse::Choice::required);
  EXPECT_EQ(any.named, "");
  const ToolUse named =
      value_of(read_tool_use(two_tools, R"({"type": "function", "function": {"name": "get_time"}})"));
  EXPECT_EQ(named.choice, ToolUse::Choice::required);
  EXPECT_EQ(named.named, "get_time");
  EXPECT_FALSE(value_of(read_tool_use("", "")).offered());
}

TEST(ToolUse, RefusesByName) {
  const auto refusal = [](const std::string& tools, const std::string& choice) {
    const auto use = read_tool_use(tools, choice);
    return use ? std::string("accepted") : use.error().message;
  };
  EXPECT_EQ(refusal("[", ""), "'tools' is not JSON");
  EXPECT_EQ(refusal("{}", ""), "'tools' must be a list, got {}");
  EXPECT_EQ(refusal("[1]", ""), "'tools[0]' must be an object, got 1");
  EXPECT_THAT(refusal(R"([{"type": "web"}])", ""), HasSubstr("'tools[0].type' must be function"));
  EXPECT_EQ(refusal("[{}]", ""), "'tools[0].function' is missing");
  EXPECT_EQ(refusal(R"([{"function": {}}])", ""), "'tools[0].function.name' is missing");
  EXPECT_EQ(refusal(R"([{"function": {"name": 3}}])", ""),
            "'tools[0].function.name' must be of type string, got 3");
  EXPECT_THAT(refusal(R"([{"function": {"name": "a b"}}])", ""), HasSubstr("got 'a b'"));
  EXPECT_THAT(refusal(R"([{"function": {"name": "a"}}, {"function": {"name": "a"}}])", ""),
              HasSubstr("'tools[1].function.name' is 'a', the name of another tool"));
  EXPECT_THAT(refusal(R"([{"function": {"name": "a", "parameters": []}}])", ""),
              HasSubstr("'tools[0].function.parameters' must be of type object, got []"));
  EXPECT_EQ(refusal("", "required"), "'tool_choice' needs 'tools'");
  EXPECT_EQ(refusal(two_tools, "all"),
            "'tool_choice' must be auto, none, required or name a function, got 'all'");
  EXPECT_EQ(refusal(two_tools, R"({"type": "function", "function": {"name": "run"}})"),
            "'tool_choice' names 'run', which is not among 'tools'");
  EXPECT_EQ(refusal(two_tools, R"({"function": {}})"), "'tool_choice.function.name' is missing");
  EXPECT_THAT(refusal(std::string(1000, '['), ""), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal(std::string((1 << 20) + 1, ' '), ""), HasSubstr("may have 1048576 bytes"));
}

}  // namespace
}  // namespace spectr
