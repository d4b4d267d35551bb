// From requests to completions: what an engine generates, reuses, and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spectr/engine/engine.h"
#include "tests/engine/bundled.h"
#include "tests/support/comes_true.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t tokens = 24;

std::unique_ptr<Engine> engine(std::size_t slots, std::size_t queue = 64) {
  SlotOptions options{.slots = slots, .queue = queue, .max_nodes = 65};
  return Engine::start(test::bundled_models(), {.slots = options}).value();
}

Request request(std::string_view prompt, std::uint64_t seed, std::string_view method = "spectr") {
  Request request;
  request.prompts = {test::bundled_models()->tokenizer->encode(prompt)};
  request.method.method = method;
  request.sampling.temperature = 1.0;
  request.limit = tokens;
  request.seed = seed;
  return request;
}

Request endless(std::string_view prompt) {
  Request endless = request(prompt, 1);
  endless.limit = 400;
  endless.ignore_eos = true;
  return endless;
}

std::shared_ptr<Completion> submit(Engine& engine, Request one) {
  return engine.submit(engine.prepare(std::move(one)).value());
}

struct Text {
  std::string text;
  CompletionResult result;
};

/// Collects the events of all choices until they have ended.
std::vector<Text> collect(Completion& completion) {
  std::vector<Text> all(completion.choices());
  while (const auto news = completion.next(60s)) {
    const auto& [choice, event] = *news;
    all[choice].text += event.delta.text;
    if (event.result) all[choice].result = *event.result;
  }
  for (const Text& one : all) EXPECT_EQ(one.result.failure.message, "");
  return all;
}

Text write(Engine& engine, Request one) {
  return collect(*submit(engine, std::move(one))).front();
}

const std::vector<std::string_view> methods = {"spectr", "plain",  "speculative", "block", "traversal",
                                               "ngram",  "suffix", "batch",       "mtad"};
constexpr std::string_view story =
    "Tom had a red ball. He liked to play with it in the park. One day he saw a dog that wanted to play with "
    "the ball too. The dog ran after it, and Tom ran after the dog";

TEST(Completions, AreTheSameAloneAndAmongSevenOthers) {
  const auto one = engine(1), eight = engine(8);
  const auto nth = [](std::size_t i) {
    return request("Once upon a time there was " + std::string(i, 'a'), i, methods[i]);
  };
  std::vector<std::shared_ptr<Completion>> running;
  for (std::size_t i = 0; i < methods.size(); ++i) running.push_back(submit(*eight, nth(i)));
  // Two engines with the same models run one after the other: a model's threads serve one pass at a time.
  std::vector<Text> together;
  for (const auto& completion : running) together.push_back(collect(*completion).front());
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const Text alone = write(*one, nth(i));
    EXPECT_EQ(together[i].text, alone.text) << methods[i];
    EXPECT_FALSE(alone.text.empty());
  }
}

TEST(Completions, AreTheSameWhateverTheRowsOfPasses) {
  // By these costs, passes of prompts have 16 rows.
  const auto costs = std::make_shared<Costs>(
      Costs{CostCurve({{1, 1e-4}, {32, 32e-4}}), {{CostCurve({{1, 1e-5}, {32, 32e-5}})}}, {}});
  const auto nth = [](std::size_t i) {
    Request one = request(std::string(i, 'a') + std::string(story), i, methods[i]);
    if (i == 0) one.method.drafts = 2;
    if (methods[i] != "plain") one.method.length = 3;
    one.cache_prompt = false;
    return one;
  };
  std::vector<std::string> texts(4);
  const auto alone = engine(1);
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = write(*alone, nth(i)).text;
  for (const std::size_t max_rows : {0, 1, 24, 512}) {
    EngineOptions options{.slots = {.slots = texts.size(), .max_rows = max_rows, .max_nodes = 65}};
    options.costs = [&](const EngineModels&) { return costs; };
    const auto four = Engine::start(test::bundled_models(), std::move(options)).value();
    ASSERT_TRUE(four->measure_costs());
    std::vector<std::shared_ptr<Completion>> running;
    for (std::size_t i = 0; i < texts.size(); ++i) running.push_back(submit(*four, nth(i)));
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(collect(*running[i]).front().text, texts[i]) << methods[i] << ", " << max_rows << " rows";
    const auto rows = four->slots().passes().back().by_rows;
    ASSERT_EQ(rows.bounds()[5], 32);
    if (max_rows == 0) {
      EXPECT_EQ(rows.up_to(5), rows.all());
    }
    if (max_rows == 512) {
      EXPECT_LT(rows.up_to(5), rows.all()) << "a whole prompt is one chunk";
    }
  }
}

TEST(Completions, OfSixtyFourClientsAreThoseOfTheirSeeds) {
  constexpr std::size_t clients = 64, each = 2;
  const auto nth = [](std::size_t i) {
    Request one = request(i % 3 == 0 ? "The sun" : "One day a cat saw", i, methods[i % methods.size()]);
    one.limit = 6;
    return one;
  };
  std::vector<std::string> texts(clients * each);
  {
    const auto one = engine(1);
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = write(*one, nth(i)).text;
  }
  const auto eight = engine(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t client = 0; client < clients; ++client) {
      threads.emplace_back([&, client] {
        for (std::size_t i = client; i < texts.size(); i += clients)
          EXPECT_EQ(write(*eight, nth(i)).text, texts[i]) << "seed " << i;
      });
    }
  }
  EXPECT_EQ(eight->slots().counts().finished, texts.size());
}

TEST(Completions, AreTheSameWhateverPrefixIsReused) {
  const auto warm = engine(1), cold = engine(1);
  const std::string prompt = "Tom had a red ball. He liked to play with";
  const Text first = write(*warm, request(prompt, 5));
  EXPECT_EQ(first.result.cached, 0u);
  const Text again = write(*warm, request(prompt, 5));
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.result.cached, request(prompt, 5).prompts[0].size() - 1);

  const std::string longer = prompt + first.text + " And";
  const Text goes_on = write(*warm, request(longer, 6)), fresh = write(*cold, request(longer, 6));
  EXPECT_GT(goes_on.result.cached, request(prompt, 5).prompts[0].size());
  EXPECT_EQ(goes_on.text, fresh.text);

  Request uncached = request(longer, 6);
  uncached.cache_prompt = false;
  EXPECT_EQ(write(*warm, std::move(uncached)).result.cached, 0u);
}

TEST(Completions, ReuseThePrefixesOfOtherMethods) {
  const auto warm = engine(1), cold = engine(1);
  for (std::string_view method : methods) {
    const Text text = write(*warm, request("The little dog ran", 9, method));
    EXPECT_EQ(text.text, write(*cold, request("The little dog ran", 9, method)).text) << method;
  }
}

TEST(Completions, GoToTheSlotThatHoldsTheirPrefix) {
  const auto two = engine(2);
  const Text cats = write(*two, request("Cats like to sleep in the sun and", 1));
  const Text dogs = write(*two, request("Dogs want to run after a big", 1));
  ASSERT_NE(cats.result.slot, dogs.result.slot) << "an empty slot is as good as one with another sequence";
  EXPECT_EQ(write(*two, request("Cats like to sleep in the rain", 1)).result.slot, cats.result.slot);
  EXPECT_EQ(write(*two, request("Dogs want to run away", 1)).result.slot, dogs.result.slot);
}

TEST(Completions, OfShortRequestsWipeNoLongConversation) {
  const auto two = engine(2);
  const std::string talk = "Tom had a red ball. He liked to play with it in the park. One day he saw a dog";
  const Text first = write(*two, request(talk, 1));
  for (std::uint64_t i = 0; i < 4; ++i)
    EXPECT_NE(write(*two, request("Tom had a " + std::string(1 + i, 'b'), i)).result.slot, first.result.slot);
  const Text goes_on = write(*two, request(talk + first.text + " And", 2));
  EXPECT_EQ(goes_on.result.slot, first.result.slot);
  EXPECT_GT(goes_on.result.cached, request(talk, 1).prompts[0].size());
}

TEST(Completions, OfOneRequestComputeTheirPromptOnce) {
  const auto four = engine(4);
  Request several = request(story, 3);
  several.n = 4;
  const std::size_t prompt = several.prompts[0].size();
  ASSERT_GT(prompt, 2 * Batcher::worth_copying);
  const std::vector<Text> texts = collect(*submit(*four, several));
  std::size_t computed = 0;
  for (const Text& text : texts) {
    computed += text.result.computed;
    EXPECT_EQ(text.result.computed + text.result.cached, prompt);
  }
  // Logits come from scoring: of the token before the last in the prefill, of the last one for a block.
  EXPECT_LE(computed, prompt + 3 * 2);
  EXPECT_NE(texts[0].text, texts[1].text) << "each draws from a stream of its own";
  const auto one = engine(1);
  for (std::size_t i = 0; i < 4; ++i) {
    Request alone = request(story, 3);
    alone.first_sample = i;
    alone.cache_prompt = false;
    EXPECT_EQ(write(*one, std::move(alone)).text, texts[i].text) << i;
  }
}

TEST(Completions, OfOneRequestComputeTheirPromptOnceWithoutACache) {
  for (const std::size_t slots : {1, 2, 4}) {
    const auto some = engine(slots);
    write(*some, request(story, 1));  // not usable by the next request
    Request several = request(story, 3);
    several.n = 4;
    several.cache_prompt = false;
    const std::size_t prompt = several.prompts[0].size();
    std::size_t computed = 0;
    for (const Text& text : collect(*submit(*some, several))) computed += text.result.computed;
    EXPECT_GE(computed, prompt) << "nothing of another request";
    EXPECT_LT(computed, prompt + prompt / 2) << slots << " slots";
    several.n = 1;
    EXPECT_EQ(write(*some, several).result.cached, 0u) << "another request";
  }
}

TEST(Completions, CopyAPrefixThatABusySlotHolds) {
  const auto two = engine(2);
  const std::string begin(story.substr(0, 80));
  const auto writing = submit(*two, endless(begin));
  ASSERT_TRUE(test::comes_true([&] { return !writing->take(0).delta.text.empty(); }, 1ms));
  const Text other = write(*two, request(begin + " that barked", 2));
  EXPECT_GE(other.result.cached, endless(begin).prompts[0].size() - 2);
  Request uncached = request(begin + " that barked", 2);
  uncached.cache_prompt = false;
  const Text fresh = write(*two, std::move(uncached));
  EXPECT_EQ(fresh.result.cached, 0u);
  EXPECT_EQ(fresh.text, other.text);
  writing->cancel();
  EXPECT_EQ(collect(*writing).front().result.reason, FinishReason::cancelled);
}

TEST(Completions, HaveBlocksOfAnySizeUnlessTheEngineHasAMaximum) {
  const auto unlimited = Engine::start(test::bundled_models()).value();
  for (const std::size_t length : {2, 100, 1}) {
    Request long_block = request("Once", 1, "speculative");
    long_block.method.length = length;
    EXPECT_EQ(collect(*submit(*unlimited, long_block)).front().result.reason, FinishReason::limit);
    EXPECT_EQ(engine(1)->prepare(long_block).has_value(), length < 65);
  }
}

TEST(Completions, HaveShapesThatFitTheEnginesMaximumWhateverTheCosts) {
  // Drafts are free and always accepted, so the longest block promises most.
  const auto costs = std::make_shared<Costs>(
      Costs{CostCurve({{1, 1.0}, {32, 1.0}}), {{CostCurve({{1, 1e-6}, {32, 1e-6}})}}, {}});
  LearnedPosition sure = {.confidence = 0.999, .merging = 0.99};
  sure.accepted.fill(0.999);
  costs->drafts.front().learned.fill(std::vector(32, sure));
  EngineOptions options;
  options.slots.max_nodes = 9;
  options.costs = [&](const EngineModels&) { return costs; };
  const auto narrow = Engine::start(test::bundled_models(), options).value();
  for (const std::string_view method : {"speculative", "spectr", "batch"}) {
    Request open = request("Once", 1, method);
    EXPECT_TRUE(narrow->prepare(open).has_value()) << method;
    if (method == "speculative") continue;
    open.method.drafts = 4;
    const auto prepared = narrow->prepare(open);
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_EQ((*prepared)->decoding.options.length, 2U) << method;
    open.method.drafts = 9;
    EXPECT_THAT(narrow->prepare(open).error().message, HasSubstr("9 drafted tokens is too large")) << method;
  }
}

TEST(Completions, AreRefusedByAFullQueue) {
  const auto one = engine(1, 1);
  const auto writing = submit(*one, endless("Once")), waiting = submit(*one, request("Once", 2));
  ASSERT_TRUE(writing && waiting);
  EXPECT_FALSE(submit(*one, request("Once", 3)));
  EXPECT_EQ(one->slots().queued(), 1u);

  waiting->cancel();
  const auto next = submit(*one, request("Once", 4));
  EXPECT_TRUE(next) << "the queue drops what was cancelled";
  EXPECT_EQ(collect(*waiting).front().result.reason, FinishReason::not_started);
  writing->cancel(FinishReason::timeout);
  EXPECT_EQ(collect(*writing).front().result.reason, FinishReason::timeout);
  next->wait();
  EXPECT_EQ(collect(*next).front().result.reason, FinishReason::limit);
}

TEST(Completions, ReportTheTargetsProbabilities) {
  const auto one = engine(1);
  Request detailed = request("Once upon a time", 3);
  detailed.details = 3;
  const auto completion = submit(*one, detailed);
  completion->wait();
  const CompletionEvent all = completion->take(0);
  ASSERT_EQ(all.delta.tokens.size(), tokens);
  EXPECT_EQ(all.delta.tokens.back().end, all.delta.text.size());
  for (const TokenReport& report : all.delta.tokens) {
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

TEST(Completions, EndTogetherWithTheEngine) {
  auto one = engine(1);
  const auto running = submit(*one, endless("Once")), queued = submit(*one, request("Once", 2));
  one.reset();
  EXPECT_EQ(collect(*running).front().result.reason, FinishReason::cancelled);
  EXPECT_EQ(collect(*queued).front().result.reason, FinishReason::not_started);
}

TEST(Completions, TellTheListenerOfEveryEvent) {
  const auto one = engine(1);
  std::atomic<int> calls = 0;
  const auto completion =
      one->submit(one->prepare(request("Once", 1, "plain")).value(), [&calls](Completion&) { ++calls; });
  completion->wait();
  EXPECT_TRUE(test::comes_true([&] { return calls >= static_cast<int>(tokens); }, 1ms));
}

TEST(PreparedRequests, AreRefusedBeforeAnyPass) {
  const auto one = engine(1);
  const auto refusal = [&one](const auto& change) {
    Request bad = request("Once", 1);
    change(bad);
    const auto prepared = one->prepare(std::move(bad));
    return prepared ? "" : prepared.error().message;
  };
  EXPECT_EQ(refusal([](Request&) {}), "");
  EXPECT_EQ(refusal([](Request& bad) { bad.prompts.clear(); }), "the request has no prompt");
  EXPECT_EQ(refusal([](Request& bad) { bad.prompts[0].clear(); }), "the prompt has no tokens");
  EXPECT_THAT(refusal([](Request& bad) { bad.prompts[0].assign(5000, 1); }),
              HasSubstr("the prompt has 5000 tokens, but the context holds"));
  EXPECT_EQ(refusal([](Request& bad) { bad.prompts[0].push_back(4096); }),
            "token 4096 of the prompt is outside the vocabulary");
  EXPECT_THAT(refusal([](Request& bad) { bad.n = 129; }), HasSubstr("must be at most 128, got 129"));
  EXPECT_THAT(refusal([](Request& bad) { bad.method.method = "magic"; }), HasSubstr("magic"));
  EXPECT_THAT(refusal([](Request& bad) { bad.sampling.temperature = -1.0; }), HasSubstr("temperature"));
  EXPECT_EQ(refusal([](Request& bad) { bad.sampling.logit_bias = {{9999, 1.0}}; }),
            "logit_bias: token 9999 is outside the vocabulary of 4096");
  EXPECT_THAT(refusal([](Request& bad) { bad.method.drafts = 8, bad.method.length = 9; }),
              HasSubstr("a block of 72 drafted tokens is too large, at most 64 are allowed"));
  EXPECT_THAT(refusal([](Request& bad) { bad.method.method = "auto"; }), HasSubstr("has not been measured"));
}

}  // namespace
}  // namespace spectr
