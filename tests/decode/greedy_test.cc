// At temperature 0 every lossless method produces exactly the text of plain decoding, on real models.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"
#include "tests/support/once_only_choices.h"
#include "tests/support/real_model.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

/// A target and its draft model.
struct RealPair {
  RealModel target, draft;

  static RealPair tiny(int threads = 1) {
    return {RealModel::load(tiny_target, threads), RealModel::load(tiny_draft, threads)};
  }
  static RealPair bundled(int threads = 1) {
    return {RealModel::load(bundled_target, threads), RealModel::load(bundled_draft, threads)};
  }

  Generation generate(std::string_view method, const MethodOptions& options, const WarpOptions& warp,
                      std::string_view prompt, std::size_t limit, Choices& choices) const {
    const MethodRule& rule = *find_method(method).value();
    Decoder decoder = make_decoder(rule, options).value();
    const auto tokens = target.tokenizer->encode(prompt);
    const std::size_t context = tokens.size() + limit, nodes = decoder.max_nodes(limit);
    const LanguageModel* const drafting[] = {&*draft};
    OwnedModels models = OwnedModels::start(*target, std::span(drafting).first(rule.models.max == 0 ? 0 : 1),
                                            Warp::make(warp).value(), context, nodes)
                             .value();
    return spectr::generate(decoder, models, tokens, {limit, target.tokenizer->vocabulary().ends()}, choices)
        .value();
  }
};

WarpOptions greedy() {
  WarpOptions warp;
  warp.temperature = 0.0;
  return warp;
}

/// A lossless method and its options.
struct Setting {
  std::string_view method;
  MethodOptions options;
};

std::vector<Setting> lossless_settings(std::size_t drafts, std::size_t length) {
  std::vector<Setting> all;
  for (const MethodRule& rule : method_rules()) {
    if (!rule.lossless || rule.name == "plain") continue;
    Setting setting{rule.name, options_of(drafts, length)};
    if (rule.name == "tree") setting.options.tree = {drafts, 2};
    all.push_back(setting);
  }
  for (const char* plan : {"recursive", "recursive-wor", "str++", "optimal"}) {
    all.push_back({"spectr", options_of(drafts, length, plan)});
  }
  return all;
}

void expect_plain_text(const RealPair& pair, const std::vector<Setting>& settings, std::string_view prompt,
                       std::size_t limit) {
  CounterRandom choices(1);
  const auto plain = pair.generate("plain", options_of(1, 1), greedy(), prompt, limit, choices).tokens;
  EXPECT_GT(plain.size(), 20u);
  for (const Setting& s : settings) {
    EXPECT_EQ(pair.generate(s.method, s.options, greedy(), prompt, limit, choices).tokens, plain)
        << s.method << " " << s.options.plan.value_or("") << ", K " << s.options.drafts << ", L "
        << s.options.length << ", " << prompt;
  }
}

TEST(Greedy, EveryMethodPrintsThePlainTextOfTheTinyPair) {
  const RealPair pair = RealPair::tiny();
  for (const char* prompt : {"Once upon a time", "Tom and Lily were", "The"}) {
    for (const auto& [drafts, length] : {std::pair{1u, 1u}, {2u, 3u}, {4u, 4u}, {3u, 8u}}) {
      expect_plain_text(pair, lossless_settings(drafts, length), prompt, 48);
    }
  }
}

TEST(Greedy, EveryMethodPrintsThePlainTextOfTheBundledPair) {
  const RealPair pair = RealPair::bundled();
  expect_plain_text(pair, lossless_settings(4, 4), "Once upon a time", 48);
  expect_plain_text(pair, {{"spectr", options_of(2, 7)}, {"block", options_of(1, 6)}}, "The king said", 48);
}

// The drafts are from a model like the target, which are mostly accepted, and from another model with the
// same vocabulary. Texts are longer than the ring buffers of layers with a window.
TEST(Greedy, EveryMethodPrintsThePlainTextOfModelsWithWindowsOrExperts) {
  for (const auto& [target, draft] : {std::pair{"gemma2", "gemma2"},
                                      {"gemma3", "gemma2"},
                                      {"gemma3", "gemma3"},
                                      {"qwen3moe", "qwen3moe"},
                                      {"llama-experts", "qwen3moe"}}) {
    const auto load = [](std::string_view name) {
      return RealModel::load("arch/" + std::string(name) + "-f32.gguf");
    };
    expect_plain_text({load(target), load(draft)}, lossless_settings(3, 4), "abacus bed",
                      std::string_view(target).starts_with("gemma") ? 480 : 120);
  }
}

TEST(Greedy, ThreadsDoNotChangeTheText) {
  CounterRandom choices(1);
  std::vector<std::vector<Token>> texts;
  for (int threads : {1, 2}) {
    const RealPair pair = RealPair::bundled(threads);
    texts.push_back(
        pair.generate("spectr", options_of(4, 4), greedy(), "One day, a dog", 24, choices).tokens);
  }
  EXPECT_EQ(texts[1], texts[0]);
}

TEST(Sampling, SameSeedSameTextForOneAndTwoThreads) {
  const RealPair one = RealPair::bundled(1), two = RealPair::bundled(2);
  for (const Setting& s : {Setting{"plain", options_of(1, 1)}, Setting{"spectr", options_of(4, 4)},
                           Setting{"traversal", options_of(3, 4)}}) {
    CounterRandom first(9), second(9), other(10);
    const auto text = one.generate(s.method, s.options, {}, "Once upon a time", 24, first).tokens;
    EXPECT_EQ(two.generate(s.method, s.options, {}, "Once upon a time", 24, second).tokens, text) << s.method;
    EXPECT_NE(one.generate(s.method, s.options, {}, "Once upon a time", 24, other).tokens, text) << s.method;
  }
}

TEST(Sampling, RealGenerationsUseNoRandomNumberTwice) {
  const RealPair pair = RealPair::tiny();
  for (const Setting& s : lossless_settings(3, 4)) {
    OnceOnlyChoices choices(3);
    pair.generate(s.method, s.options, {}, "Once upon a time", 64, choices);
    EXPECT_TRUE(choices.entered_again().empty()) << s.method;
  }
}

}  // namespace
}  // namespace spectr
