// The tokens that `spectr perplexity` counts, and the context from which each is predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

Json json(const Arguments& arguments) {
  const Outcome ran = spectr(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

TEST(Perplexity, IsTheExponentialOfItsNll) {
  const TemporaryFile text(
      "Once upon a time, there was a little girl named Lily. She loved to play outside.");
  const Json whole = json({"perplexity", "-m", target(), "-f", text.path()});
  EXPECT_EQ(whole.size(), 3);
  EXPECT_NEAR(whole["perplexity"].get<double>(), std::exp(whole["nll"].get<double>()), 1e-9);
  EXPECT_LT(whole["perplexity"].get<double>(), 8.0);
  const std::size_t tokens = json({"tokenize", "-m", target(), "-f", text.path(), "--json"})["tokens"].size();
  EXPECT_EQ(whole["tokens"], tokens - 1);
}

/// Returns −log q(token | tokens), from the logits after `tokens`.
double nll_after(const std::vector<int>& tokens, int token) {
  std::string ids;
  for (const int before : tokens) ids += (ids.empty() ? "" : ",") + std::to_string(before);
  const Json logits = json({"logits", "-m", target(), "--tokens", ids, "--json"})["logits"];
  double sum = 0.0;
  for (const Json& logit : logits) sum += std::exp(logit.get<double>());
  return std::log(sum) - logits[token].get<double>();
}

TEST(Perplexity, HasWindowsThatAllBeginWithBos) {
  const TemporaryFile text("Once upon a time there was a cat");
  const std::vector<int> ids = json({"tokenize", "-m", target(), "-f", text.path(), "--json"})["tokens"];
  ASSERT_EQ(ids.front(), 1) << "BOS";
  for (const std::size_t size : {2, 3}) {
    double nll = 0.0;
    for (std::size_t begin = 1; begin < ids.size(); begin += size - 1) {
      std::vector<int> window = {1};
      for (std::size_t i = begin; i < std::min(begin + size - 1, ids.size()); ++i) {
        nll += nll_after(window, ids[i]);
        window.push_back(ids[i]);
      }
    }
    const Json windows = json({"perplexity", "-m", target(), "-f", text.path(), "-c", std::to_string(size)});
    EXPECT_EQ(windows["tokens"], ids.size() - 1) << "every token of the text is predicted";
    EXPECT_NEAR(windows["nll"].get<double>(), nll / static_cast<double>(ids.size() - 1), 1e-4);
  }
  const TemporaryFile named("<s>Once upon a time there was a cat");
  EXPECT_EQ(json({"perplexity", "-m", target(), "-f", named.path(), "--special"})["tokens"], ids.size() - 1)
      << "a BOS in the text is the first window's, not a second one";
}

TEST(Perplexity, HasNoBosWhereTheModelWantsNone) {
  const std::string model = data("arch2/glm4moe/model-mtp.gguf");
  const TemporaryFile text("abc abc abc abc");
  const std::size_t tokens = json({"tokenize", "-m", model, "-f", text.path(), "--json"})["tokens"].size();
  EXPECT_EQ(json({"perplexity", "-m", model, "-f", text.path(), "-c", "4"})["tokens"],
            tokens - (tokens + 3) / 4)
      << "the first token of each window is not predicted";
}

}  // namespace
}  // namespace spectr::test
