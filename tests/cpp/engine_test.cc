// The engine through the public C++ headers, with the bundled pair of models.
#include <gmock/gmock.h>
#include <spectr/spectr.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using spectr::ErrorCode;
using spectr::Token;
using testing::HasSubstr;

const std::string model = MODELS "/spectr-stories-7m-q8_0.gguf";
const std::string draft = MODELS "/spectr-stories-draft-0.6m-q8_0.gguf";

spectr::Engine& engine() {
  static spectr::Engine loaded =
      spectr::Engine::load({.model = model, .drafts = {draft}, .threads = 1, .slots = 2}).value();
  return loaded;
}

spectr::Request story() {
  return {.prompt = "Once upon a time",
          .max_tokens = 24,
          .seed = 3,
          .method = "spectr",
          .drafts = 2,
          .length = 3,
          .ignore_eos = true};
}

TEST(CppEngine, EqualSeedsGiveEqualCompletions) {
  const auto first = engine().complete(story()).value();
  spectr::Request two = story();
  two.n = 2;
  two.prompt = engine().tokenize("Once upon a time").value();
  const auto second = engine().complete(two).value();
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(first[0].tokens.size(), 24u);
  EXPECT_EQ(first[0].tokens, second[0].tokens);
  EXPECT_EQ(first[0].text, second[0].text);
  EXPECT_NE(second[0].tokens, second[1].tokens);
  EXPECT_EQ(first[0].stop_reason, "limit");
}

TEST(CppEngine, StreamsTheTextThatItCompletes) {
  auto completion = engine().submit(story()).value();
  EXPECT_EQ(completion.statistics(), "");
  std::string text;
  bool ended = false;
  while (const auto event = completion.next(std::chrono::minutes(1)).value()) {
    text += event->text;
    ended = event->ended;
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(text, engine().complete(story()).value().at(0).text);
  EXPECT_THAT(completion.statistics(), HasSubstr("\"generated\":24"));
  EXPECT_EQ(completion.statistics(1), "");
  EXPECT_FALSE(completion.next().value().has_value());
}

TEST(CppEngine, AListenerHearsOfEventsUntilTheEnd) {
  std::mutex mutex;
  std::condition_variable changed;
  bool news = false;
  auto completion = engine()
                        .submit(story(),
                                [&] {
                                  const std::lock_guard lock(mutex);
                                  news = true;
                                  changed.notify_one();
                                })
                        .value();
  std::size_t tokens = 0;
  for (bool ended = false; !ended;) {
    {
      std::unique_lock lock(mutex);
      ASSERT_TRUE(changed.wait_for(lock, std::chrono::minutes(5), [&] { return news; }));
      news = false;
    }
    for (;;) {
      const auto event = completion.next(std::chrono::milliseconds(0));
      if (!event) {
        EXPECT_EQ(event.error().code, ErrorCode::timeout);
        break;
      }
      if (!event->has_value()) break;
      tokens += (*event)->tokens.size();
      ended |= (*event)->ended;
    }
  }
  EXPECT_EQ(tokens, 24u);
}

TEST(CppEngine, AssignmentEndsTheCompletionThatItReplacesBeforeItsListener) {
  spectr::Request endless = story();
  endless.max_tokens = 0;
  auto calls = std::make_shared<std::atomic<int>>(0);
  auto completion = engine().submit(endless, [calls] { ++*calls; }).value();
  ASSERT_TRUE(completion.next(std::chrono::minutes(5)));
  completion = engine().submit(story()).value();
  EXPECT_GT(*calls, 0);
  EXPECT_EQ(calls.use_count(), 1);  // the listener is gone
  EXPECT_EQ(completion.collect().value().at(0).tokens.size(), 24u);
}

TEST(CppEngine, CancelsFromAnotherThreadAndOutlivesItsEngine) {
  std::optional<spectr::Engine> short_lived =
      spectr::Engine::load({.model = model, .drafts = {draft}, .threads = 1}).value();
  spectr::Request endless = story();
  endless.max_tokens = 0;
  auto completion = short_lived->submit(endless).value();
  short_lived.reset();
  std::thread([&] { completion.cancel(); }).join();
  EXPECT_TRUE(completion.wait(std::chrono::minutes(5)));
  const auto answers = completion.collect().value();
  EXPECT_THAT(answers.at(0).stop_reason, testing::AnyOf("cancelled", "not_started", "context"));
}

TEST(CppEngine, AWaitThatIsTooShortIsATimeout) {
  spectr::Request endless = story();
  endless.max_tokens = 0;
  auto completion = engine().submit(endless).value();
  const auto waited = completion.wait(std::chrono::milliseconds(0));
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::timeout);
}

TEST(CppEngine, ConvertsTextToTokensAndBack) {
  const std::string text = "A cat and a dog. \xC3\xA9t\xC3\xA9";
  const auto tokens = engine().tokenize(text).value();
  EXPECT_THAT(engine().detokenize(tokens).value(), HasSubstr(text));
  const auto outside = engine().detokenize(std::vector<Token>{Token{1} << 30});
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("tokens[0] must lie in [0, "));
}

TEST(CppEngine, PerplexityIsThatOfTheLogits) {
  const auto tokens = engine().tokenize("Once upon a time there was a girl").value();
  const auto logits = engine().logits(tokens).value();
  const std::size_t V = engine().vocabulary();
  ASSERT_EQ(logits.size(), tokens.size() * V);
  double loss = 0.0;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const auto row = std::span(logits).subspan(i * V, V);
    loss -= std::log(spectr::probabilities(row, spectr::Sampling::none()).value()[tokens[i + 1]]);
  }
  const double perplexity = engine().perplexity(tokens).value();
  EXPECT_NEAR(std::log(perplexity), loss / static_cast<double>(tokens.size() - 1), 1e-5);
  const auto last = engine().logits(tokens, tokens.size() - 1).value();
  EXPECT_EQ(last, std::vector<float>(logits.end() - static_cast<std::ptrdiff_t>(V), logits.end()));
  const auto after = engine().logits(tokens, tokens.size());
  ASSERT_FALSE(after);
  EXPECT_THAT(after.error().message, HasSubstr("first must be less than"));
  EXPECT_THAT(engine().logits({}).error().message, HasSubstr("tokens is empty"));
  const auto long_text = engine().logits(std::vector<Token>(engine().context() + 1, tokens[0]));
  ASSERT_FALSE(long_text);
  EXPECT_EQ(long_text.error().code, ErrorCode::context_full);
  EXPECT_FALSE(engine().perplexity(std::vector<Token>{1}).has_value());
}

TEST(CppEngine, ReportsTheProgressOfLoading) {
  std::atomic<double> share = 0.0;
  std::atomic<int> calls = 0;
  const auto loaded =
      spectr::Engine::load({.model = model, .threads = 1, .progress = [&](std::string_view what, double s) {
                              EXPECT_THAT(std::string(what), HasSubstr(".gguf"));
                              share = s;
                              ++calls;
                            }});
  ASSERT_TRUE(loaded);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(share, 1.0);
  EXPECT_GT(loaded->context(), 0u);
}

TEST(CppEngine, RefusesBadFilesAndRequestsByName) {
  const auto missing = spectr::Engine::load({.model = "/does/not/exist.gguf"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::io);
  EXPECT_THAT(missing.error().message, HasSubstr("/does/not/exist.gguf"));
  const auto slots = spectr::Engine::load({.model = model, .slots = 0});
  ASSERT_FALSE(slots);
  EXPECT_THAT(slots.error().message, HasSubstr("slots must lie in"));

  spectr::Request request = story();
  request.sampling.temperature = -1.0;
  const auto cold = engine().submit(request);
  ASSERT_FALSE(cold);
  EXPECT_THAT(cold.error().message, HasSubstr("temperature"));
  request = story();
  request.prompt = std::vector<Token>();
  EXPECT_FALSE(engine().submit(request).has_value());
  request.prompt = std::vector<spectr::Message>();
  EXPECT_FALSE(engine().submit(request).has_value());
  request = story();
  request.method = "none";
  const auto unknown = engine().submit(request);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("none"));
}

constexpr const char* weather_tool =
    R"([{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
        "required": ["city"], "additionalProperties": false, "properties": {"city": {"enum": ["Rome", "Oslo"]}}}}}])";

TEST(CppEngine, TextFollowsItsGrammarOrSchema) {
  spectr::Request request{
      .prompt = "The answer is", .max_tokens = 60, .method = "spectr", .drafts = 2, .length = 3};
  request.grammar = R"(root ::= "yes" | "no")";
  EXPECT_THAT(engine().complete(request).value().at(0).text, testing::AnyOf("yes", "no"));
  request.grammar.clear();
  request.json_schema = R"({"type": "string", "enum": ["red", "blue"]})";
  EXPECT_THAT(engine().complete(request).value().at(0).text, testing::AnyOf("\"red\"", "\"blue\""));
  request.grammar = R"(root ::= "yes")";
  EXPECT_THAT(engine().submit(request).error().message, HasSubstr("exclude each other"));
}

TEST(CppEngine, RequiredToolsAreCalledAndTheirResultsAnswered) {
  spectr::Request request{.max_tokens = 120, .sampling = {.temperature = 0.0}};
  std::vector<spectr::Message> messages = {{"user", "Weather?"}};
  request.prompt = messages;
  request.tools = weather_tool;
  request.tool_choice = "required";
  const spectr::Answer answer = engine().complete(request).value().at(0);
  ASSERT_FALSE(answer.tool_calls.empty());
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.tool_calls[0].name, "get_weather");
  EXPECT_THAT(answer.tool_calls[0].arguments, testing::AnyOf(R"({"city":"Rome"})", R"({"city":"Oslo"})"));
  messages.push_back({.role = "assistant", .tool_calls = answer.tool_calls});
  messages.push_back({.role = "tool", .content = "sunny", .tool_call_id = answer.tool_calls[0].id});
  request.prompt = messages;
  request.tool_choice = "none";
  EXPECT_TRUE(engine().complete(request).value().at(0).tool_calls.empty());
  request.prompt = "Weather?";
  EXPECT_THAT(engine().submit(request).error().message, HasSubstr("tools and tool_choice need messages"));
}

TEST(CppEngine, AnswersAConversation) {
  spectr::Request request = story();
  request.prompt = std::vector<spectr::Message>{{"user", "Tell me a story."}};
  EXPECT_FALSE(engine().complete(request).value().at(0).text.empty());
}

}  // namespace
