// Calls with which thoughts end count; those in the middle of thoughts do not.
#include "spectr/text/chat/answer_calls.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace spectr {
namespace {

constexpr std::string_view call = R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)";

/// Returns "thoughts|content|calls" of an answer that is parsed in pieces of `piece` bytes.
std::string found_in(std::string_view thoughts, std::string_view content, std::size_t piece,
                     bool parallel = true, bool exact = false) {
  const Tool tools[] = {{"f", "{}"}};
  const ToolForm form{
      .opens = {"<tool_call>"}, .closes = {"</tool_call>"}, .lead = R"(<tool_call>{"name": ")"};
  AnswerCalls calls(form, std::make_shared<const ToolSet>(tools), parallel, exact);
  AnswerCalls::Parts all;
  const auto add = [&](const AnswerCalls::Parts& parts) {
    all.reasoning += parts.reasoning;
    all.content += parts.content;
    all.calls.insert(all.calls.end(), parts.calls.begin(), parts.calls.end());
  };
  for (std::size_t at = 0; at < thoughts.size(); at += piece) add(calls.push(thoughts.substr(at, piece), ""));
  for (std::size_t at = 0; at < content.size(); at += piece) add(calls.push("", content.substr(at, piece)));
  add(calls.finish());
  EXPECT_EQ(calls.called(), !all.calls.empty());
  return all.reasoning + "|" + all.content + "|" + std::to_string(all.calls.size());
}

TEST(CallsInThoughts, CountIfTheAnswerEndsWithThem) {
  const std::string one(call), two = one + one;
  for (const std::size_t piece : {1U, 3U, 7U, 4096U}) {
    EXPECT_EQ(found_in("Hm.\n" + one, "", piece), "Hm.||1");
    EXPECT_EQ(found_in("Hm.\n" + one + "\nDone.", "", piece), "Hm.|Done.|1");
    EXPECT_EQ(found_in(two, "", piece), "||2");
    EXPECT_EQ(found_in(two, "", piece, false), "||1");
    EXPECT_EQ(found_in(one, "", piece, true, true), one + "||0") << "constrained";
  }
}

TEST(CallsInThoughts, AreThoughtsIfTheseGoOn) {
  const std::string one(call), more(AnswerCalls::max_after_call + 1, 'a');
  for (const std::size_t piece : {1U, 3U, 7U, 4096U}) {
    EXPECT_EQ(found_in("Hm " + one + " so.", "Two." + one, piece), "Hm " + one + " so.|Two.|1");
    for (const bool parallel : {false, true})
      EXPECT_EQ(found_in(one + more, "", piece, parallel), one + more + "||0");
    EXPECT_EQ(found_in("Hm <tool_call>{\"name\":", "", piece), "Hm <tool_call>{\"name\":||0");
  }
}

}  // namespace
}  // namespace spectr
