#include "spectr/text/reasoning.h"

#include <gtest/gtest.h>

#include <string>

namespace spectr {
namespace {

constexpr std::string_view harmony = "{{ '<|start|>assistant' }}";
constexpr std::string_view thinks = "{{ '<think>' }}";

/// Splits an answer that arrives in pieces of `piece` bytes. Returns "reasoning|content".
std::string split(std::string_view chat_template, std::string_view answer, std::size_t piece,
                  std::string_view begun = "") {
  const auto splitter = ReasoningSplitter::make(reasoning_form(chat_template), begun);
  ReasoningSplitter::Parts all;
  const auto add = [&](const ReasoningSplitter::Parts& parts) {
    all.reasoning += parts.reasoning;
    all.content += parts.content;
  };
  for (std::size_t at = 0; at < answer.size(); at += piece) add(splitter->push(answer.substr(at, piece)));
  add(splitter->finish());
  return all.reasoning + "|" + all.content;
}

void expect_split(std::string_view chat_template, std::string_view answer, const std::string& parts,
                  std::string_view begun = "") {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U})
    EXPECT_EQ(split(chat_template, answer, piece, begun), parts) << "in pieces of " << piece;
}

TEST(Reasoning, ThoughtsStandBetweenTagsAtTheBeginning) {
  expect_split(thinks, "<think>\nHm, 2 < 3.\n\n So.\n</think>\n\nTwo.\n", "Hm, 2 < 3.\n\n So.|Two.\n");
  expect_split(thinks, " \n<think>a</think>b", "a|b");
  expect_split(thinks, "<think>a</think>\n<think>b</think> c", "a\n\nb|c");
  expect_split(thinks, "<think>\n\n</think>\n\nTwo.", "|Two.");
  expect_split(thinks, "<think></think><think>a</think>b", "a|b");
  expect_split(thinks, "", "|");
}

TEST(Reasoning, AnAnswerWithoutThoughtsIsSaidAsItIs) {
  expect_split(thinks, "  Two </think> and <think> three \n", "|  Two </think> and <think> three \n");
  expect_split(thinks, "<thin", "|<thin");
  expect_split(thinks, " \n", "| \n");
}

TEST(Reasoning, ThoughtsThatDoNotEndAreThoughts) {
  expect_split(thinks, "<think>Hm. </thi", "Hm. </thi|");
  expect_split(thinks, "<think>Hm. \n", "Hm.|");
}

TEST(Reasoning, ThePromptMayHaveOpenedTheThoughts) {
  expect_split(thinks, "\nHm.\n</think>\n\nTwo.", "Hm.|Two.", "<think>");
  expect_split(thinks, " more", "| more", "<think>Hm.</think>It is");
  expect_split("<response>", "\n<response>Two.</response>", "|\nTwo.", "<think>");
  expect_split("<response>", "In <response>.</think>Two.", "In <response>.|Two.", "<think>");
  const ReasoningForm& form = reasoning_form(thinks);
  EXPECT_EQ(begun_answer(MarkedText("user: hi\nassistant: <think>\n"), form), "<think>");
  EXPECT_EQ(begun_answer(MarkedText("assistant: <think>\n\n</think>\n\n"), form), "");
  EXPECT_EQ(begun_answer(MarkedText("user: ").append("<think>", true).append("\nassistant:"), form), "");
  EXPECT_EQ(begun_answer(MarkedText("assistant: ").append("It is", true), form), "It is");
  EXPECT_EQ(begun_answer(MarkedText("assistant: <think>").append("It is", true), form), "<think>It is");
}

TEST(Reasoning, FamiliesHaveTagsOfTheirOwn) {
  expect_split("'<|channel>thought'", "<|channel>thought\nHm.<channel|>Two.", "Hm.|Two.");
  expect_split("[THINK]", "[THINK]Hm.[/THINK]Two.", "Hm.|Two.");
  expect_split("<seed:think>", "<seed:think>Hm.</seed:think>Two.", "Hm.|Two.");
  expect_split("<|START_THINKING|>",
               "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Two.<|END_RESPONSE|>", "Hm.|Two.");
  expect_split("<response>", "<think>Hm.</think><response>Two.</response>", "Hm.|Two.");
  expect_split("of none", "<think>Hm.</think>Two.", "Hm.|Two.");
}

TEST(Reasoning, HarmonyHasAChannelOfThoughts) {
  expect_split(harmony,
               "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Two.",
               "Hm.|Two.");
  expect_split(
      harmony,
      "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>"
      "<|start|>assistant<|channel|>commentary<|message|>c<|end|><|start|>assistant<|channel|>final"
      "<|message|>d < e",
      "a\n\nb|c\n\nd < e");
  expect_split(harmony, "<|channel|>commentary to=f <|constrain|>json<|message|>{}", "|{}");
  expect_split(harmony, "<|message|>Two.", "|Two.");
  expect_split(harmony, "Two.", "|Two.");
  expect_split(harmony, "<|channel|>analysis<|message|>Hm.<|en", "Hm.<|en|");
  expect_split(harmony, "<|channel|>analysis", "|");
}

TEST(Reasoning, HarmonyHasNoHeaderWithoutAMark) {
  expect_split(harmony, " to=5 is it", "| to=5 is it");
  expect_split(harmony, "to=self<|message|>Hm.", "Hm.|");
}

TEST(Reasoning, KeptThoughtsAreTheAnswersOwnText) {
  const auto kept = [](std::string_view chat_template, std::string_view answer, std::string_view begun = "") {
    for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
      const auto splitter = ReasoningSplitter::make(reasoning_form(chat_template), begun, {.thoughts = true});
      ReasoningSplitter::Parts all;
      for (std::size_t at = 0; at < answer.size(); at += piece)
        all.content += splitter->push(answer.substr(at, piece)).content;
      EXPECT_EQ(all.content + splitter->finish().content, answer) << "in pieces of " << piece;
    }
  };
  for (const char* const answer : {" \n<think>\n a \n</think> <think> b</think>\n\n c ", "<think>a </thi",
                                   "<think> ", "</think>\n a", " a <think>", "<think></think>"})
    kept(thinks, answer);
  kept(thinks, "\n a </think>\nb", "<think>");
  kept("<|channel>", "a <|channel>thought\n b<channel|> c <|channel>thought d");
}

TEST(Reasoning, HarmonysPromptMayHaveBegunTheMessage) {
  const ReasoningForm& form = reasoning_form(harmony);
  EXPECT_EQ(begun_answer(MarkedText("<|start|>user<|message|>hi<|end|><|start|>assistant"), form), "");
  const std::string begun =
      begun_answer(MarkedText("<|start|>assistant<|channel|>final<|message|>").append("It", true), form);
  EXPECT_EQ(begun, "<|channel|>final<|message|>It");
  expect_split(harmony, " is.", "| is.", begun);
  expect_split(harmony, "Hm.<|end|>", "Hm.|", "<|channel|>analysis<|message|>");
}

TEST(Reasoning, HarmonysCallsKeepTheirHeaders) {
  const ReasoningForm& form = reasoning_form(harmony);
  const std::string_view answers[] = {
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f "
      "<|constrain|>json<|message|>{}",
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.f<|channel|>commentary "
      "json<|message|>{}",
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>analysis to=functions.f "
      "code<|message|>{}"};
  for (const std::string_view answer : answers) {
    for (const std::size_t piece : {1U, 3U, 1000U}) {
      const auto splitter = ReasoningSplitter::make(form, "", {.calls = true});
      ReasoningSplitter::Parts all;
      for (std::size_t at = 0; at < answer.size(); at += piece) {
        const auto parts = splitter->push(answer.substr(at, piece));
        all.reasoning += parts.reasoning;
        all.content += parts.content;
      }
      all.content += splitter->finish().content;
      EXPECT_EQ(all.reasoning, "Hm.");
      EXPECT_EQ(all.content, "<|channel|>commentary to=functions.f<|message|>{}") << answer;
    }
  }
}

}  // namespace
}  // namespace spectr
