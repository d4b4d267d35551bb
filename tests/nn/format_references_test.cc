// Small random models in low-bit formats, with logits that another engine computes from the weights as its
// own reader decodes them: two from the project, and the extra data's arch2/.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "spectr/backend/reference/reference_backend.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/gguf/gguf.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr KvTypes floats{KvType::f32, KvType::f32};

/// A reference file, and its description of the model.
struct Reference {
  fs::path path;
  Json json = Json::parse(std::ifstream(path));

  fs::path model() const { return path.parent_path() / json["model"].get<std::string>(); }
};

std::vector<Reference> references() {
  std::vector<Reference> all;
  for (const char* folder : {"formats", "arch2/llama-quants"}) {
    const auto found = find_data(folder);
    if (!found) continue;
    for (const auto& entry : fs::directory_iterator(*found)) {
      if (entry.path().extension() == ".json") all.push_back({entry.path()});
    }
  }
  return all;
}

Logits logits_after(Session& session, std::span<const Token> text) {
  EXPECT_TRUE(session.score(text, TokenTree(text.back())));
  return session.logits(TokenTree::root);
}

/// Returns the largest |found − expected| / |expected| after the texts of the reference.
double relative_distance(const Transformer& model, const Reference& reference) {
  const auto tokens = reference.json["tokens"].get<std::vector<Token>>();
  const auto session = model.start(tokens.size(), 1).value();
  double largest = 0;
  for (std::size_t i = 0; i < reference.json["positions"].size(); ++i) {
    const auto count = reference.json["positions"][i].get<std::size_t>() + 1;
    const Logits found = logits_after(*session, std::span(tokens).first(count));
    const auto expected = reference.json["logits"][i].get<std::vector<double>>();
    EXPECT_EQ(found.size(), expected.size());
    double difference = 0, norm = 0;
    for (std::size_t t = 0; t < expected.size(); ++t) {
      difference += std::pow(found.at(static_cast<Token>(t)) - expected[t], 2);
      norm += std::pow(expected[t], 2);
    }
    largest = std::max(largest, std::sqrt(difference / norm));
  }
  return largest;
}

void expect_greedy_text(const Transformer& model, const Reference& reference) {
  auto text = reference.json["greedy"]["prompt_tokens"].get<std::vector<Token>>();
  const auto ids = reference.json["greedy"]["ids"].get<std::vector<Token>>();
  const auto session = model.start(text.size() + ids.size(), 1).value();
  for (const Token id : ids) {
    const Logits row = logits_after(*session, text);
    Token best = 0;
    for (Token t = 1; t < static_cast<Token>(row.size()); ++t) best = row.at(t) > row.at(best) ? t : best;
    ASSERT_EQ(best, id) << reference.path << ", token " << text.size();
    text.push_back(best);
  }
}

TEST(FormatReferences, AgreeWhereTheNumbersOfTheFileAreMultipliedAsTheyAre) {
  for (const Reference& reference : references()) {
    const auto model = Transformer::load(Gguf::open(reference.model()).value(),
                                         std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f32),
                                         {.kv = {floats.keys, floats.values}})
                           .value();
    EXPECT_LE(relative_distance(*model, reference), 1e-4) << reference.path;
    expect_greedy_text(*model, reference);
  }
}

// The other engine's own integer kernels differ from these logits by up to 0.03.
TEST(FormatReferences, AreNearWhereActivationsAreRounded) {
  ThreadPool pool(2);
  for (const Reference& reference : references()) {
    const auto model =
        load_model(reference.model(), pool, {{floats.keys, floats.values}}).value().transformer;
    EXPECT_LE(relative_distance(*model, reference), 0.06) << reference.path;
  }
}

}  // namespace
}  // namespace spectr
