#include "apps/server/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/server/bundled.h"
#include "tests/support/comes_true.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t tokens = 24;

Task task(std::string_view prompt, std::uint64_t seed, std::string_view method = "spectr") {
  WarpOptions options;
  options.temperature = 1.0;
  return {bundled().tokenizer->encode(prompt),
          find_method(method).value(),
          {},
          std::make_shared<const Warp>(Warp::make(options).value()),
          tokens,
          false,
          {},
          seed};
}

std::unique_ptr<Slots> slots(std::size_t count, std::size_t queue = 64) {
  return Slots::start(bundled(), {count, queue, 0}).value();
}

struct Text {
  std::string text;
  Outcome outcome;
};

Text collect(Answer& answer, std::size_t choice = 0) {
  std::string text;
  std::optional<Outcome> outcome;
  EXPECT_TRUE(test::comes_true(
      [&] {
        text += answer.take(choice).text;
        outcome = answer.outcome(choice);
        return outcome.has_value();
      },
      1ms))
      << "the text does not end: " << text;
  if (!outcome) return {text, {}};
  EXPECT_EQ(outcome->failure, outcome->reason == FinishReason::cancelled ? outcome->failure : "");
  return {text, *outcome};
}

Text write(Slots& slots, Task one) {
  auto answer = std::make_shared<Answer>(1);
  EXPECT_TRUE(slots.submit({std::move(one)}, answer));
  return collect(*answer);
}

const std::vector<std::string_view> methods = {"spectr",    "plain", "speculative", "block",
                                               "traversal", "ngram", "batch",       "mtad"};

TEST(Slots, ATextIsTheSameAloneAndAmongSevenOthers) {
  const auto one = slots(1), eight = slots(8);
  std::vector<std::shared_ptr<Answer>> answers;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    answers.push_back(std::make_shared<Answer>(1));
    const std::string prompt = "Once upon a time there was " + std::string(i, 'a');
    ASSERT_TRUE(eight->submit({task(prompt, i, methods[i])}, answers.back()));
  }
  // Two engines on the same models work one after the other: the models' threads serve one pass at a time.
  std::vector<Text> together;
  for (const auto& answer : answers) together.push_back(collect(*answer));
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const Text alone = write(*one, task("Once upon a time there was " + std::string(i, 'a'), i, methods[i]));
    EXPECT_EQ(together[i].text, alone.text) << methods[i];
    EXPECT_FALSE(alone.text.empty());
  }
}

TEST(Slots, WhatASlotRemembersOfAPromptChangesNothing) {
  const auto warm = slots(1), cold = slots(1);
  const std::string prompt = "Tom had a red ball. He liked to play with";
  const Text first = write(*warm, task(prompt, 5));
  EXPECT_EQ(first.outcome.cached, 0u);
  const Text again = write(*warm, task(prompt, 5));
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.outcome.cached, task(prompt, 5).prompt.size() - 1);

  const std::string longer = prompt + first.text + " And";
  const Text goes_on = write(*warm, task(longer, 6)), fresh = write(*cold, task(longer, 6));
  EXPECT_GT(goes_on.outcome.cached, task(prompt, 5).prompt.size());
  EXPECT_EQ(goes_on.text, fresh.text);

  Task uncached = task(longer, 6);
  uncached.cache_prompt = false;
  EXPECT_EQ(write(*warm, std::move(uncached)).outcome.cached, 0u);
}

TEST(Slots, ASlotRemembersAcrossMethods) {
  const auto warm = slots(1), cold = slots(1);
  const std::string prompt = "The little dog ran";
  for (std::string_view method : methods) {
    const Text text = write(*warm, task(prompt, 9, method)), fresh = write(*cold, task(prompt, 9, method));
    EXPECT_EQ(text.text, fresh.text) << method;
  }
}

TEST(Slots, TheSlotThatKnowsThePromptGetsIt) {
  const auto two = slots(2);
  const Text cats = write(*two, task("Cats like to sleep in the sun and", 1));
  const Text dogs = write(*two, task("Dogs want to run after a big", 1));
  ASSERT_NE(cats.outcome.slot, dogs.outcome.slot) << "an empty slot is as good as one with another text";
  EXPECT_EQ(write(*two, task("Cats like to sleep in the rain", 1)).outcome.slot, cats.outcome.slot);
  EXPECT_EQ(write(*two, task("Dogs want to run away", 1)).outcome.slot, dogs.outcome.slot);
}

TEST(Slots, AShortRequestWipesNoLongConversation) {
  const auto two = slots(2);
  const std::string story = "Tom had a red ball. He liked to play with it in the park. One day he saw a dog";
  const Text talk = write(*two, task(story, 1));
  for (std::uint64_t i = 0; i < 4; ++i)
    EXPECT_NE(write(*two, task("Tom had a " + std::string(1 + i, 'b'), i)).outcome.slot, talk.outcome.slot);
  const Text goes_on = write(*two, task(story + talk.text + " And", 2));
  EXPECT_EQ(goes_on.outcome.slot, talk.outcome.slot);
  EXPECT_GT(goes_on.outcome.cached, task(story, 1).prompt.size());
}

TEST(Slots, TextsOfOnePromptReadItOnce) {
  const auto four = slots(4);
  const std::string story =
      "Tom had a red ball. He liked to play with it in the park. One day he saw a dog that "
      "wanted to play with the ball too. The dog ran after it, and Tom ran after the dog";
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < 4; ++i) {
    tasks.push_back(task(story, 3, methods[i]));
    tasks.back().sample = i;
  }
  const std::size_t prompt = tasks.front().prompt.size();
  ASSERT_GT(prompt, 2 * Batcher::worth_copying);
  auto answer = std::make_shared<Answer>(4);
  ASSERT_TRUE(four->submit(tasks, answer));
  std::size_t computed = 0;
  std::vector<Text> texts;
  for (std::size_t i = 0; i < 4; ++i) {
    texts.push_back(collect(*answer, i));
    computed += texts.back().outcome.computed;
    EXPECT_EQ(texts.back().outcome.computed + texts.back().outcome.cached, prompt);
  }
  // Logits are had by scoring: of the last token but one when the prompt is read, of the last for a block.
  EXPECT_LE(computed, prompt + 3 * 2);
  const auto one = slots(1);
  for (std::size_t i = 0; i < 4; ++i) {
    tasks[i].cache_prompt = false;
    EXPECT_EQ(write(*one, tasks[i]).text, texts[i].text) << i;
  }
}

TEST(Slots, APromptThatABusySlotHasIsCopied) {
  const auto two = slots(2);
  const std::string story = "Tom had a red ball. He liked to play with it in the park. One day he saw a dog";
  Task endless = task(story, 1);
  endless.limit = 400;
  endless.ignore_eos = true;
  auto writing = std::make_shared<Answer>(1);
  ASSERT_TRUE(two->submit({endless}, writing));
  ASSERT_TRUE(test::comes_true([&] { return !writing->take(0).text.empty(); }, 1ms)) << "it writes nothing";
  const Text other = write(*two, task(story + " that barked", 2));
  EXPECT_GE(other.outcome.cached, endless.prompt.size());
  Task uncached = task(story + " that barked", 2);
  uncached.cache_prompt = false;
  const Text fresh = write(*two, uncached);
  EXPECT_EQ(fresh.outcome.cached, 0u);
  EXPECT_EQ(fresh.text, other.text);
  writing->cancel();
  EXPECT_EQ(collect(*writing).outcome.reason, FinishReason::cancelled);
}

TEST(Slots, TextsOfOneRequestReadTheirPromptOnceThoughNoCacheIsUsed) {
  const std::string story =
      "Tom had a red ball. He liked to play with it in the park. One day he saw a dog that wanted to play";
  for (const std::size_t count : {1, 2, 4}) {
    const auto some = slots(count);
    write(*some, task(story, 1));  // which they must not use
    std::vector<Task> tasks(4, task(story, 3, "spectr"));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].sample = i;
      tasks[i].cache_prompt = false;
    }
    const std::size_t prompt = tasks.front().prompt.size();
    auto answer = std::make_shared<Answer>(tasks.size());
    ASSERT_TRUE(some->submit(tasks, answer));
    std::size_t computed = 0;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Text text = collect(*answer, i);
      computed += text.outcome.computed;
      texts.push_back(text.text);
    }
    EXPECT_GE(computed, prompt) << "nothing of another request";
    EXPECT_LT(computed, prompt + prompt / 2) << count << " slots";
    const auto alone = slots(1);
    for (std::size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(write(*alone, tasks[i]).text, texts[i]);
    auto next = std::make_shared<Answer>(1);
    ASSERT_TRUE(some->submit({tasks.front()}, next));
    EXPECT_EQ(collect(*next).outcome.cached, 0u) << "another request";
  }
}

TEST(Slots, AFullQueueTakesNothing) {
  const auto one = slots(1, 1);
  auto writing = std::make_shared<Answer>(1), waiting = std::make_shared<Answer>(1);
  Task endless = task("Once", 1);
  endless.limit = 500;
  endless.ignore_eos = true;
  ASSERT_TRUE(one->submit({endless}, writing));
  ASSERT_TRUE(one->submit({task("Once", 2)}, waiting));
  EXPECT_FALSE(one->submit({task("Once", 3)}, std::make_shared<Answer>(1)));
  EXPECT_EQ(one->queued(), 1u);

  waiting->cancel();
  EXPECT_TRUE(one->submit({task("Once", 4)}, std::make_shared<Answer>(1))) << "the queue drops who has gone";
  EXPECT_EQ(collect(*waiting).outcome.reason, FinishReason::not_started);
  writing->cancel();
  EXPECT_EQ(collect(*writing).outcome.reason, FinishReason::cancelled);
}

TEST(Slots, SeveralTextsOfOneRequestDiffer) {
  const auto two = slots(2);
  auto answer = std::make_shared<Answer>(2);
  std::vector<Task> both = {task("Once", 3), task("Once", 3)};
  both[1].sample = 1;
  ASSERT_TRUE(two->submit(std::move(both), answer));
  EXPECT_NE(collect(*answer, 0).text, collect(*answer, 1).text);
}

TEST(Slots, DetailsTellTheTargetsProbabilities) {
  const auto one = slots(1);
  auto answer = std::make_shared<Answer>(1);
  Task told = task("Once upon a time", 3);
  told.details = 3;
  ASSERT_TRUE(one->submit({std::move(told)}, answer));
  Chunk all;
  ASSERT_TRUE(test::comes_true(
      [&] {
        const bool ended = answer->outcome(0).has_value();
        Chunk chunk = answer->take(0);
        all.tokens.insert(all.tokens.end(), chunk.tokens.begin(), chunk.tokens.end());
        return ended;
      },
      1ms));
  ASSERT_EQ(all.tokens.size(), tokens);
  for (const TokenReport& report : all.tokens) {
    ASSERT_EQ(report.alternatives.size(), 3u);
    EXPECT_LE(report.log_probability, report.alternatives.front().log_probability);
    EXPECT_GT(report.target.value(), 0.0);
    EXPECT_TRUE(report.source != Source::draft || report.draft.value() > 0.0);
    for (const Alternative& likely : report.alternatives) {
      if (likely.token != report.token) continue;
      EXPECT_DOUBLE_EQ(likely.log_probability, report.log_probability);
    }
  }
}

}  // namespace
}  // namespace spectr::server
