// Completions with a trained drafter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectr/engine/engine.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Pair {
  std::string target, drafter;
};

const Pair pairs[] = {{"target-llama", "eagle3-d2t"},
                      {"target-qwen3", "eagle3-shared"},
                      {"target-qwen3", "dflash-8"},
                      {"target-qwen3", "dspark-7"},
                      {"target-llama", "dspark-6-bonus"},
                      {"target-qwen3", "dflash2-8"},
                      {"../arch2/gemma4/model", "assistant"},
                      {"../arch2/qwen35/model-mtp", "../arch2/qwen35/model-mtp"},
                      {"../arch2/glm4moe/model-mtp", "../arch2/glm4moe/model-mtp"}};

EngineOptions options_of(const Pair& pair, std::size_t slots = 1) {
  const auto folder = source_folder() / "tests/data/drafters";
  EngineOptions options;
  options.models = {.target = folder / (pair.target + ".gguf"),
                    .drafts = {folder / (pair.drafter + ".gguf")},
                    .threads = 2};
  options.slots.slots = slots;
  return options;
}

Request request_by(const std::string& method, double temperature, std::vector<Token> prompt,
                   std::uint64_t seed = 1) {
  Request request;
  request.prompts = {std::move(prompt)};
  request.method.method = method;
  request.method.drafts = 3;
  request.method.length = 4;
  if (method == "tree") request.method.others.tree = {2, 2, 1};
  if (method == "speculative" || method == "block") request.method.drafts.reset();
  request.sampling.temperature = temperature;
  request.limit = 40;
  request.ignore_eos = true;
  request.seed = seed;
  return request;
}

struct Generated {
  std::vector<Token> tokens;
  CompletionResult result;
};

Generated generated(Engine& engine, Request request) {
  auto prepared = engine.prepare(std::move(request));
  EXPECT_TRUE(prepared) << prepared.error().message;
  const auto completion = engine.submit(*prepared);
  Generated out;
  while (const auto news = completion->next(60s)) {
    for (const TokenReport& token : news->second.delta.tokens) out.tokens.push_back(token.token);
    if (news->second.result) out.result = *news->second.result;
  }
  EXPECT_EQ(out.result.failure.message, "");
  return out;
}

const std::vector<Token> prompt_of_pairs = {40, 160, 256, 158, 250, 296, 266, 130, 20};

TEST(TrainedDrafters, GiveThePlainTextAtTemperatureZeroByEveryMethod) {
  for (const Pair& pair : pairs) {
    const auto engine = Engine::load(options_of(pair)).value();
    const auto plain = generated(*engine, request_by("plain", 0, prompt_of_pairs));
    ASSERT_EQ(plain.tokens.size(), 40U);
    for (const char* method :
         {"spectr", "speculative", "tree", "batch", "block", "traversal", "conditional", "univer", "gbv"}) {
      const auto found = generated(*engine, request_by(method, 0, prompt_of_pairs));
      EXPECT_EQ(found.tokens, plain.tokens) << pair.drafter << ", " << method;
      EXPECT_GT(found.result.statistics.drafted(), 0U) << pair.drafter << ", " << method;
    }
  }
}

/// Tests a completion that continues an earlier one, as in conversations, and one that shares its prefix.
TEST(TrainedDrafters, GoOnFromSequencesThatTheEngineHolds) {
  for (const Pair& pair : pairs) {
    const auto used = Engine::load(options_of(pair)).value();
    auto prompt = prompt_of_pairs;
    const auto first = generated(*used, request_by("spectr", 1, prompt));
    prompt.insert(prompt.end(), first.tokens.begin(), first.tokens.begin() + 17);
    for (const char* between : {"plain", "spectr"}) {
      prompt.push_back(33);
      generated(*used, request_by(between, 1, prompt, 5));
      prompt.back() = 34;
      const auto fresh = Engine::load(options_of(pair)).value();
      EXPECT_EQ(generated(*used, request_by("conditional", 1, prompt, 9)).tokens,
                generated(*fresh, request_by("conditional", 1, prompt, 9)).tokens)
          << pair.drafter << " after " << between;
    }
  }
}

/// An assistant reads the target's cache and the last token's state, so tokens that the engine has computed
/// without a drafter need not be computed again. EAGLE-3 reads the states of all tokens.
TEST(TrainedDrafters, ThatReadTheTargetsCacheGoOnFromPlainDecoding) {
  const std::vector<Token> prompt(prompt_of_pairs);
  const auto cached_after_plain = [&](const Pair& pair) {
    EngineOptions options = options_of(pair);
    options.slots.max_nodes = 16;  // so that both requests use the same session
    const auto engine = Engine::load(std::move(options)).value();
    generated(*engine, request_by("plain", 1, prompt));
    return generated(*engine, request_by("spectr", 1, prompt, 5)).result.cached;
  };
  EXPECT_EQ(cached_after_plain({"../arch2/gemma4/model", "assistant"}), prompt.size() - 1);
  EXPECT_EQ(cached_after_plain({"target-llama", "eagle3-d2t"}), 0U);
}

TEST(TrainedDrafters, DraftForSeveralSequencesAtOnce) {
  std::vector<Token> prompt;  // long enough for sequences to copy it from each other
  for (Token token = 0; token < 90; ++token) prompt.push_back((37 * token) % 300);
  for (const Pair& pair : pairs) {
    const auto one = Engine::load(options_of(pair)).value(), four = Engine::load(options_of(pair, 4)).value();
    std::vector<std::shared_ptr<Completion>> running;
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      running.push_back(four->submit(four->prepare(request_by("spectr", 1, prompt, seed)).value()));
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      std::vector<Token> tokens;
      while (const auto news = running[seed]->next(60s))
        for (const TokenReport& token : news->second.delta.tokens) tokens.push_back(token.token);
      EXPECT_EQ(tokens, generated(*one, request_by("spectr", 1, prompt, seed)).tokens)
          << pair.drafter << ", seed " << seed;
    }
  }
}

/// Returns costs by which drafts of a trained drafter are nearly free, after those of draft models, which
/// cost as much as the target.
Result<std::shared_ptr<const Costs>> cheap_drafters(const EngineModels& models) {
  Costs costs{CostCurve({{1, 1.0}, {64, 1.1}}), {}, {}};
  for (std::size_t i = 0; i < models.drafts.size(); ++i) costs.drafts.push_back({costs.target});
  DraftCosts& drafter = costs.drafts.emplace_back(CostCurve({{1, 0.01}, {64, 0.02}}));
  drafter.first = 0.05;
  const std::size_t depth = models.trained->max_depth();
  if (models.trained->spec().block) drafter.block = depth;
  return std::make_shared<const Costs>(std::move(costs));
}

TEST(TrainedDrafters, AreChosenByAutoAndKeepTheText) {
  for (const Pair& pair : pairs) {
    EngineOptions options = options_of(pair);
    options.costs = cheap_drafters;
    const auto engine = Engine::load(std::move(options)).value();
    for (std::size_t length : {2U, 9U}) {
      const std::vector<Token> prompt(prompt_of_pairs.begin(),
                                      prompt_of_pairs.begin() + static_cast<std::ptrdiff_t>(length));
      Request request = request_by("auto", 0, prompt);
      request.method.drafts = request.method.length = std::nullopt;
      const auto found = generated(*engine, std::move(request));
      EXPECT_EQ(found.tokens, generated(*engine, request_by("plain", 0, prompt)).tokens) << pair.drafter;
      EXPECT_GT(found.result.statistics.drafted(), 0U) << pair.drafter << ", " << length;
      ASSERT_EQ(found.result.learned.size(), 1U);
      EXPECT_GT(found.result.learned[0].seen, 0U) << pair.drafter;
    }
  }
}

TEST(TrainedDrafters, OfAutoDraftAlikeInASequenceThatTheEngineHolds) {
  for (const Pair& pair : {pairs[0], pairs[2], pairs[6], pairs[8]}) {
    const auto load = [&] {
      EngineOptions options = options_of(pair);
      options.costs = cheap_drafters;
      return Engine::load(std::move(options)).value();
    };
    const auto used = load();
    auto prompt = prompt_of_pairs;
    const auto first = generated(*used, request_by("auto", 1, prompt));
    prompt.insert(prompt.end(), first.tokens.begin(), first.tokens.begin() + 17);
    const auto again = generated(*used, request_by("auto", 1, prompt, 5));
    EXPECT_EQ(again.tokens, generated(*load(), request_by("auto", 1, prompt, 5)).tokens) << pair.drafter;
  }
}

TEST(TrainedDrafters, CompeteWithDraftModels) {
  EngineOptions options = options_of(pairs[0]);
  options.models.drafts.push_back(options.models.target);  // as its own draft model
  options.costs = cheap_drafters;
  const auto engine = Engine::load(std::move(options)).value();
  EXPECT_EQ(engine->models().draft_count(), 2U);
  EXPECT_EQ(engine->models().draft_name(1), engine->models().trained->name());
  const auto plain = generated(*engine, request_by("plain", 0, prompt_of_pairs));
  const auto automatic = generated(*engine, request_by("auto", 0, prompt_of_pairs));
  EXPECT_EQ(automatic.tokens, plain.tokens);
  EXPECT_EQ(automatic.result.learned.size(), 2U);
  const auto by_model = generated(*engine, request_by("speculative", 0, prompt_of_pairs));
  EXPECT_EQ(by_model.tokens, plain.tokens);
  EXPECT_EQ(by_model.result.statistics.drafted(), by_model.result.statistics.accepted())
      << "methods of one draft take the first, which is never wrong here";
}

TEST(TrainedDrafters, AreMeasuredByTheirPasses) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "trained_drafters_costs";
  std::filesystem::create_directories(folder);
  for (const Pair& pair : {pairs[0], pairs[3]}) {
    EngineOptions options = options_of(pair);
    options.cost_file = CostFile({.path = (folder / "costs.json").string()});
    const auto engine = Engine::load(std::move(options)).value();
    ASSERT_TRUE(engine->measure_costs());
    const auto costs = engine->costs();
    ASSERT_EQ(costs->drafts.size(), 1U);
    const DraftCosts& drafter = costs->drafts.front();
    EXPECT_GT(drafter.first.value_or(0.0), 0.0) << pair.drafter;
    EXPECT_EQ(drafter.block.has_value(), engine->models().trained->spec().block.has_value());
    if (drafter.block) {
      EXPECT_EQ(*drafter.block, engine->models().trained->max_depth());
    }
    EXPECT_EQ(drafter.passes.points().back().rows, 64U);
    Request open;
    open.prompts = {prompt_of_pairs};
    EXPECT_EQ(engine->prepare(std::move(open)).value()->decoding.method->name, "auto");
  }
  std::filesystem::remove_all(folder);
}

TEST(TrainedDrafters, AreOneAtMost) {
  EngineOptions options = options_of(pairs[0]);
  options.models.drafts.push_back(source_folder() / "tests/data/drafters/dflash-8.gguf");
  const auto refused = Engine::load(std::move(options));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("dflash-8.gguf: one trained drafter can draft for a target"));
}

TEST(TrainedDrafters, OfTooFewTokensAreRefused) {
  EngineOptions options = options_of(pairs[0]);
  options.models.load.draft.words = std::size_t{100};
  const auto refused = Engine::load(std::move(options));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a draft of the first 100 tokens is of no use"));
}

}  // namespace
}  // namespace spectr
