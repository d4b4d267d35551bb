// Tests of prompts after tokenization and truncation.
#include "apps/bench/methods/generation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr::bench {
namespace {

TEST(BenchPrompts, ThatAreTooLongKeepTheirBosAndTheirEnd) {
  const EngineModels models = EngineModels::load({.target = *find_data(test::tiny_target)}).value();
  std::string story;
  for (int i = 0; i < 300; ++i) story += "Tom had a ball. ";
  Prompt prompt;
  prompt.turns = {story};
  const std::vector<Token> whole = models.tokenizer->encode(story);
  const std::size_t room = models.target->context() - 128;
  ASSERT_GT(whole.size(), room);

  const auto prompts = tokenize({.models = models, .predict = 128}, std::span(&prompt, 1));
  ASSERT_TRUE(prompts) << prompts.error().message;
  const std::vector<Token>& cut = prompts->front().turns.front();
  ASSERT_EQ(cut.size(), room);
  EXPECT_TRUE(prompts->front().cut);
  EXPECT_EQ(cut.front(), models.tokenizer->vocabulary().bos());
  EXPECT_EQ(std::vector(cut.begin() + 1, cut.end()),
            std::vector(whole.end() - static_cast<std::ptrdiff_t>(room - 1), whole.end()));
}

}  // namespace
}  // namespace spectr::bench
