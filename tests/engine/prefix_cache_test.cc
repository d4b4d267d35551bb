// The prefixes that an engine keeps after no slot holds them: in memory and in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "spectr/engine/engine.h"
#include "spectr/engine/prompt_file.h"
#include "tests/engine/bundled.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t megabyte = std::size_t{1} << 20;

std::unique_ptr<Engine> engine_keeping(std::size_t prefix_bytes, std::size_t slots = 1) {
  return Engine::start(test::bundled_models(),
                       {.slots = {.slots = slots, .prefix_bytes = prefix_bytes, .max_nodes = 65}})
      .value();
}

struct Answer {
  std::vector<Token> tokens;
  std::size_t computed = 0, cached = 0;
};

Answer answer(Engine& engine, const std::vector<Token>& prompt, std::string_view method = "spectr",
              std::size_t limit = 16) {
  Request request;
  request.prompts = {prompt};
  request.method.method = method;
  request.sampling.temperature = 1.0;
  request.limit = limit;
  request.ignore_eos = true;
  request.seed = 3;
  const auto completion = engine.submit(engine.prepare(std::move(request)).value());
  Answer answer;
  while (const auto news = completion->next(60s)) {
    for (const TokenReport& report : news->second.delta.tokens) answer.tokens.push_back(report.token);
    if (!news->second.result) continue;
    EXPECT_EQ(news->second.result->failure.message, "");
    answer.computed = news->second.result->computed;
    answer.cached = news->second.result->cached;
  }
  return answer;
}

/// A distinct conversation that grows.
class Conversation {
 public:
  explicit Conversation(std::string_view subject) {
    for (int i = 0; i < 12; ++i)
      add("The " + std::string(subject) + " went to the park and saw a big tree. ");
  }
  void add(const std::string& text) {
    const auto more = test::bundled_models()->tokenizer->encode(text);
    prompt.insert(prompt.end(), more.begin(), more.end());
  }
  std::vector<Token> prompt;
};

TEST(PrefixCache, TwoConversationsThatTakeTurnsComputeOnlyWhatIsNew) {
  constexpr int turns = 20;
  constexpr std::size_t answer_tokens = 8;
  const auto one = engine_keeping(256 * megabyte);
  Conversation cat("cat"), dog("dog");
  std::size_t computed = 0, added = cat.prompt.size() + dog.prompt.size();
  for (int turn = 0; turn < turns; ++turn) {
    for (Conversation* conversation : {&cat, &dog}) {
      const Answer told = answer(*one, conversation->prompt, "spectr", answer_tokens);
      computed += told.computed;
      conversation->prompt.insert(conversation->prompt.end(), told.tokens.begin(), told.tokens.end());
      const std::size_t before = conversation->prompt.size();
      conversation->add("Then the sun came out. ");
      if (turn + 1 < turns) added += conversation->prompt.size() - before + told.tokens.size();
    }
  }
  EXPECT_LE(static_cast<double>(computed), 1.1 * static_cast<double>(added));
  EXPECT_GT(one->slots().prefixes().bytes(), 0);
}

TEST(PrefixCache, ARestoredBeginningChangesNoText) {
  const Conversation cat("cat"), dog("dog");
  for (const std::string_view method : {"plain", "spectr", "traversal"}) {
    const auto caching = engine_keeping(256 * megabyte), forgetful = engine_keeping(0);
    const Answer first = answer(*caching, cat.prompt, method);
    answer(*caching, dog.prompt, method);
    const Answer again = answer(*caching, cat.prompt, method);
    EXPECT_GT(again.cached, cat.prompt.size() - 2) << method;
    EXPECT_EQ(again.tokens, first.tokens) << method;
    EXPECT_EQ(answer(*forgetful, cat.prompt, method).tokens, first.tokens) << method;
    answer(*forgetful, dog.prompt, method);
    EXPECT_LE(answer(*forgetful, cat.prompt, method).cached, 2) << "what both begin with";
  }
}

TEST(PrefixCache, SequencesWithACommonBeginningShareItsMemory) {
  const auto one = engine_keeping(256 * megabyte);
  Conversation first("cat");
  Conversation second = first;
  first.add("It was red.");
  second.add("There was a house.");
  const std::vector<Token> dog = Conversation("dog").prompt;
  const auto bytes_after = [&](const std::vector<Token>& prompt) {
    answer(*one, prompt);
    return one->slots().prefixes().bytes();
  };
  bytes_after(first.prompt);
  const std::size_t of_first = bytes_after(dog), with_dog = bytes_after(second.prompt),
                    of_all = bytes_after(dog);
  EXPECT_GT(of_all, with_dog);
  EXPECT_LT(of_all - with_dog, of_first / 2);
}

TEST(PrefixCache, KeepsToItsLimitAndEvictsTheLeastRecentlyUsed) {
  const EngineModels& models = *test::bundled_models();
  const auto session = models.target->start(512, 1).value();
  const auto sequence_of = [&](Token first) {
    std::vector<Token> tokens(200, 5);
    tokens.front() = first;
    session->rewind(0);
    EXPECT_TRUE(session->score(tokens, TokenTree(tokens.back())));
    session->keep({});
    return tokens;
  };
  PrefixCache probe(SIZE_MAX);
  const std::vector<Token> a = sequence_of(1);
  probe.save(*models.target, a, *session);
  const std::size_t bytes = probe.bytes();
  ASSERT_GT(bytes, 0);

  PrefixCache cache(2 * bytes);
  for (const Token first : {1, 2}) cache.save(*models.target, sequence_of(first), *session);
  EXPECT_EQ(cache.find(*models.target, a, *session).tokens, 200);  // makes it the most recently used
  cache.save(*models.target, sequence_of(3), *session);
  EXPECT_EQ(cache.bytes(), 2 * bytes);
  EXPECT_EQ(cache.find(*models.target, a, *session).tokens, 200);
  EXPECT_EQ(cache.find(*models.target, sequence_of(2), *session).tokens, 0);
  EXPECT_EQ(cache.find(*models.drafts.front(), a, *session).tokens, 0) << "of another model";
}

class PromptFile : public testing::Test {
 protected:
  ~PromptFile() override { std::filesystem::remove(path_); }
  static std::string contents(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  static Result<CachedSequence> read(const std::filesystem::path& path) {
    return read_prompt_file(path, *test::bundled_models()->target, test::bundled_models()->context);
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      ("prompt-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(PromptFile, BringsTheSequenceOfASlotBackInAnotherEngine) {
  const Conversation cat("cat");
  const auto first = engine_keeping(0);
  const Answer told = answer(*first, cat.prompt);
  const auto saved = first->slots().save(0, path_);
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_GE(saved->tokens, cat.prompt.size());
  EXPECT_EQ(saved->bytes, std::filesystem::file_size(path_));

  const auto second = engine_keeping(0);
  const auto restored = second->slots().restore(0, path_);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->tokens, saved->tokens);
  const Answer again = answer(*second, cat.prompt);
  EXPECT_EQ(again.tokens, told.tokens);
  EXPECT_EQ(again.computed, 1) << "the prompt's last token";

  EXPECT_GE(second->slots().erase(0)->tokens, cat.prompt.size());
  EXPECT_EQ(answer(*second, cat.prompt).cached, 0);
}

TEST_F(PromptFile, ThatIsForeignTruncatedOrDamagedIsRefused) {
  const auto one = engine_keeping(0);
  EXPECT_THAT(one->slots().save(0, path_).error().message, HasSubstr("no sequence"));
  answer(*one, Conversation("cat").prompt);
  ASSERT_TRUE(one->slots().save(0, path_));
  const std::string good = contents(path_);
  ASSERT_TRUE(read(path_));

  EXPECT_EQ(read("/nowhere/prompt").error().code, ErrorCode::io);
  EXPECT_FALSE(read(testing::TempDir()));
  write("GGUF and more");
  EXPECT_THAT(read(path_).error().message, HasSubstr("not a saved prompt"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{63}, good.size() / 2, good.size() - 1}) {
    write(good.substr(0, size));
    EXPECT_FALSE(read(path_)) << size;
  }
  for (const std::size_t at : {std::size_t{24}, std::size_t{40}, std::size_t{56}, std::size_t{80},
                               good.size() / 2, good.size() - 3}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    write(bad);
    EXPECT_THAT(read(path_).error().message, HasSubstr("damaged")) << at;
  }
  std::string other_build = good;
  other_build[8] = static_cast<char>(other_build[8] ^ 1);
  write(other_build);
  EXPECT_THAT(read(path_).error().message, HasSubstr("another build"));
  write(good);
  const EngineModels& models = *test::bundled_models();
  EXPECT_THAT(read_prompt_file(path_, *models.drafts.front(), models.context).error().message,
              HasSubstr("another model"));
  EXPECT_EQ(one->slots().save(0, "/nowhere/prompt").error().code, ErrorCode::io);
  EXPECT_THAT(one->slots().restore(7, path_).error().message, HasSubstr("slot 7 does not exist"));
}

}  // namespace
}  // namespace spectr
