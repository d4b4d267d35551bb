// Small random models of further architectures with the logits of other engines, from the extra data's
// arch2/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spectr/engine/loaded_model.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

double relative_distance(const Logits& found, const std::vector<double>& expected) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = found.at(static_cast<Token>(i)) - expected[i];
    difference += off * off;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

Token likeliest_token(const Logits& row) {
  Token best = 0;
  for (Token t = 1; t < static_cast<Token>(row.size()); ++t) {
    if (row.at(t) > row.at(best)) best = t;
  }
  return best;
}

/// The logits after every listed position, asked for one after the other (so the text comes in pieces), and
/// the greedy continuation.
void expect_agreement(const fs::path& reference) {
  const Json json = Json::parse(std::ifstream(reference));
  ThreadPool pool(2);
  const auto model = load_model(reference.parent_path() / json["model"].get<std::string>(), pool,
                                {{KvType::f32, KvType::f32}})
                         .value()
                         .transformer;
  const auto tokens = json["tokens"].get<std::vector<Token>>();
  const auto session = model->start(tokens.size(), 1).value();
  for (std::size_t i = 0; i < json["positions"].size(); ++i) {
    const auto text = std::span(tokens).first(json["positions"][i].get<std::size_t>() + 1);
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    const auto expected = json["logits"][i].get<std::vector<double>>();
    ASSERT_EQ(session->logits(TokenTree::root).size(), expected.size());
    EXPECT_LE(relative_distance(session->logits(TokenTree::root), expected), 1e-4)
        << reference << ", after " << text.size() << " tokens";
  }
  const Json& greedy = json["greedy"];
  auto text = greedy["prompt_tokens"].get<std::vector<Token>>();
  session->rewind(0);
  for (const Json& id : greedy["ids"]) {
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    text.push_back(likeliest_token(session->logits(TokenTree::root)));
    ASSERT_EQ(text.back(), id.get<Token>()) << reference << ", token " << text.size() - 1;
  }
}

TEST(FurtherReferences, AgreeAtAllPositionsAndGreedily) {
  const auto folder = find_data("arch2");
  if (!folder) GTEST_SKIP() << "needs the extra data's arch2/";
  for (const char* one : {"granite", "olmo2", "smollm3", "qwen3moe", "llama-moe", "gemma2", "gemma3"})
    expect_agreement(*folder / one / "reference.json");
  for (const char* one :
       {"gemma3/reference-linear.json", "gemma3/reference-62layers.json", "gemma2/reference-46layers.json"})
    expect_agreement(*folder / one);
}

}  // namespace
}  // namespace spectr
