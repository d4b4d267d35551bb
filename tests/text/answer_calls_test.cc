// Calls with which thoughts end count; those in the middle of thoughts do not.
#include "spectr/text/chat/answer_calls.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace spectr {
namespace {

constexpr std::string_view call = R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)";
const std::string one(call), more(AnswerCalls::max_after_call + 1, 'a');
constexpr std::size_t pieces[] = {1, 3, 7, 4096};

struct Parsing {
  bool parallel = true, exact = false;
  bool ended = true;                   // by the model
  bool kept = false;                   // thoughts are content
  std::string_view marks = "<think>";  // in the template
};

/// Returns "thoughts|content|calls" of an answer that is parsed in pieces of `piece` bytes.
std::string found_in(std::string_view answer, std::size_t piece, const Parsing& how = {}) {
  const Tool tools[] = {{"f", "{}"}};
  const ToolForm form{
      .opens = {"<tool_call>"}, .closes = {"</tool_call>"}, .lead = R"(<tool_call>{"name": ")"};
  const auto splitter = ReasoningSplitter::make(reasoning_form(how.marks), "", {.thoughts = how.kept});
  AnswerCalls calls(form, std::make_shared<const ToolSet>(tools), how.parallel, how.exact);
  AnswerCalls::Parts all;
  const auto add = [&](const AnswerCalls::Parts& parts) {
    all.reasoning += parts.reasoning;
    all.content += parts.content;
    all.calls.insert(all.calls.end(), parts.calls.begin(), parts.calls.end());
  };
  for (std::size_t at = 0; at < answer.size(); at += piece)
    add(calls.push(splitter->push(answer.substr(at, piece))));
  add(calls.push(splitter->finish()));
  add(calls.finish(how.ended));
  EXPECT_EQ(calls.called(), !all.calls.empty());
  return all.reasoning + "|" + all.content + "|" + std::to_string(all.calls.size());
}

TEST(CallsInThoughts, CountIfTheAnswerEndsWithThem) {
  for (const std::size_t piece : pieces) {
    EXPECT_EQ(found_in("<think>Hm.\n" + one, piece), "Hm.||1");
    EXPECT_EQ(found_in("<think>Hm.\n" + one + "\nDone.", piece), "Hm.|Done.|1");
    EXPECT_EQ(found_in("<think>" + one + one, piece), "||2");
    EXPECT_EQ(found_in("<think>" + one + one, piece, {.parallel = false}), "||1");
    EXPECT_EQ(found_in("<think>" + one, piece, {.exact = true}), one + "||0") << "constrained";
  }
}

TEST(CallsInThoughts, AreThoughtsIfTheseGoOn) {
  for (const std::size_t piece : pieces) {
    EXPECT_EQ(found_in("<think>Hm " + one + " so.</think>Two." + one, piece), "Hm " + one + " so.|Two.|1");
    for (const bool parallel : {false, true})
      EXPECT_EQ(found_in("<think>" + one + more, piece, {.parallel = parallel}), one + more + "||0");
    EXPECT_EQ(found_in("<think>Hm <tool_call>{\"name\":", piece), "Hm <tool_call>{\"name\":||0");
  }
}

TEST(CallsInThoughts, AreThoughtsIfTheseAreClosed) {
  for (const std::size_t piece : pieces) {
    EXPECT_EQ(found_in("<think>Hm " + one + "</think>", piece), "Hm " + one + "||0");
    EXPECT_EQ(found_in("<think>Hm " + one + "</think>\n<think>So.", piece), "Hm " + one + "\n\nSo.||0");
    const std::string analysis = "<|channel|>analysis<|message|>";
    EXPECT_EQ(found_in(analysis + one + "<|end|>", piece, {.marks = "<|start|>assistant"}), one + "||0");
  }
}

TEST(CallsInThoughts, AreThoughtsIfTheAnswerIsCutOff) {
  for (const std::size_t piece : pieces) {
    for (const bool kept : {false, true}) {
      const std::string thoughts = (kept ? "|<think>" : "") + ("Hm " + one + " s") + (kept ? "" : "|");
      EXPECT_EQ(found_in("<think>Hm " + one + " s", piece, {.ended = false, .kept = kept}), thoughts + "|0");
    }
    EXPECT_EQ(found_in(one + "So", piece, {.ended = false}), "|So|1") << "it is no thought";
  }
}

TEST(CallsInThoughts, AreThoughtsAlsoIfTheseAreKept) {
  for (const std::size_t piece : pieces) {
    const std::string maybe = "<think>Maybe " + one + "? No.</think>\n\nNo.";
    EXPECT_EQ(found_in(maybe, piece, {.kept = true}), "|" + maybe + "|0");
    EXPECT_EQ(found_in(maybe + one, piece, {.kept = true}), "|" + maybe + "|1");
    EXPECT_EQ(found_in(maybe + one, piece, {.exact = true, .kept = true}), "|" + maybe + "|1");
    EXPECT_EQ(found_in("<think>Hm.\n" + one + " Done.", piece, {.kept = true}), "|<think>Hm.\nDone.|1");
    const std::string twice = "<|channel>thought\nHm " + one + "<channel|>a\n {<|channel>thought\nSo.";
    EXPECT_EQ(found_in(twice, piece, {.kept = true, .marks = "<|channel>"}), "|" + twice + "|0");
    const std::string channels =
        "<|channel|>analysis<|message|>Hm " + one + "<|end|><|channel|>final<|message|>";
    EXPECT_EQ(found_in(channels + "Two.", piece, {.kept = true, .marks = "<|start|>assistant"}),
              "|<|channel|>analysis<|message|>Hm " + one + "<|end|>Two.|0");
  }
}

TEST(CallsInThoughts, ThatFollowContentLeaveItComplete) {
  const Parsing reopens{.marks = "<|channel>"}, single{.parallel = false, .marks = "<|channel>"};
  const std::string thinks = "<|channel>thought\n";
  for (const std::size_t piece : pieces) {
    EXPECT_EQ(found_in("{\"name\": \"x" + thinks + "Hm." + one, piece, reopens), "Hm.|{\"name\": \"x|1");
    EXPECT_EQ(found_in(one + thinks + "Hm." + one, piece, reopens), "Hm.||2");
    EXPECT_EQ(found_in(one + thinks + "Hm." + one, piece, single), "Hm." + one + "||1");
  }
}

}  // namespace
}  // namespace spectr
