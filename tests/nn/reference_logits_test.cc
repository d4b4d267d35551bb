// Logits and greedy texts of an independent engine (llama.cpp), or of the definition in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;
namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

/// Returns the numbers of `"key": [ … ]` in a JSON text.
std::vector<double> numbers(const std::string& json, const std::string& key) {
  std::vector<double> found;
  const std::size_t at = json.find("\"" + key + "\"");
  if (at == std::string::npos) return found;
  const char* next = json.c_str() + json.find('[', at);
  while (*next != ']') {
    char* end = nullptr;
    found.push_back(std::strtod(next + 1, &end));
    next = end + std::strspn(end, " \n\r\t");
  }
  return found;
}

std::vector<Token> as_tokens(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

std::vector<float> last_logits(const Transformer& model, const std::vector<Token>& tokens) {
  const auto session = model.start(tokens.size(), 1).value();
  EXPECT_TRUE(session->score(tokens, TokenTree(tokens.back())));
  const Logits row = session->logits(TokenTree::root);
  std::vector<float> out(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) out[i] = static_cast<float>(row.at(static_cast<Token>(i)));
  return out;
}

/// Returns |a − b| / |b|.
double relative_distance(const std::vector<float>& a, const std::vector<double>& b) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

double tolerance(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name.ends_with("-f32")) return 1e-3;
  if (name.ends_with("-f16") || name.ends_with("-bf16")) return 5e-3;
  return 0.06;
}

/// Expects the logits of a model after a text to agree with those of the JSON file.
void expect_agreement(const fs::path& file, const fs::path& reference, const LoadOptions& options = {}) {
  const std::string name = reference.stem().string(), json = contents(reference);
  ThreadPool pool(2);
  const auto model = load_model(file, pool, options).value().transformer;
  const auto expected = numbers(json, "logits");
  const auto found = last_logits(*model, as_tokens(numbers(json, "tokens")));
  ASSERT_EQ(found.size(), expected.size()) << name;
  const double distance = relative_distance(found, expected);
  EXPECT_LE(distance, tolerance(name)) << name;
  testing::Test::RecordProperty(name, std::to_string(distance));
}

/// Returns the project's own references, of every architecture and every stored format.
std::vector<fs::path> own_references() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(find_data("arch/qwen3-f32.json")->parent_path())) {
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

class OwnReference : public testing::TestWithParam<fs::path> {};

TEST_P(OwnReference, LogitsAgree) {
  expect_agreement(fs::path(GetParam()).replace_extension(".gguf"), GetParam());
}

// Uses the weights that the file's formats define; nothing else is rounded.
TEST_P(OwnReference, LogitsOfTheReferenceBackendAgreeToThePrecisionOfTheFile) {
  const std::string json = contents(GetParam());
  for (const auto kind : {ReferenceBackend::Precision::f64, ReferenceBackend::Precision::f32}) {
    const auto model =
        Transformer::load(Gguf::open(fs::path(GetParam()).replace_extension(".gguf")).value(),
                          std::make_shared<ReferenceBackend>(kind), {.kv = {KvType::f32, KvType::f32}})
            .value();
    const auto found = last_logits(*model, as_tokens(numbers(json, "tokens")));
    EXPECT_LE(relative_distance(found, numbers(json, "logits")), 2e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, OwnReference, testing::ValuesIn(own_references()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

TEST(OwnReferences, AreOfEveryArchitectureAndFormat) {
  std::set<std::string> architectures_left;
  for (const Architecture& one : architectures()) architectures_left.emplace(one.name);
  std::set<TensorType> formats_left;
  for (const TensorFormat& format : tensor_formats()) formats_left.insert(format.type);
  for (const char* folder : {"tests/data/arch2", "tests/data/encoders"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_folder() / folder)) {
      if (entry.path().extension() != ".gguf") continue;
      architectures_left.erase(read_model_spec(Gguf::open(entry.path()).value()).value().architecture);
    }
  }
  // These are read like the architectures of the corresponding text models.
  for (const char* alias : {"qwen2vl", "qwen3vl", "qwen3vlmoe"}) architectures_left.erase(alias);
  const auto strike_off = [&](const fs::path& model) {
    const ModelSpec spec = read_model_spec(Gguf::open(model).value()).value();
    architectures_left.erase(spec.architecture);
    for (const WeightSpec& weight : spec.weights) formats_left.erase(weight.type);
  };
  for (fs::path path : own_references()) strike_off(path.replace_extension(".gguf"));
  // The script has no reader for these (format_references_test.cc).
  for (const char* one : {"formats/model-Q1_0-pure.gguf", "formats/model-Q2_0-pure.gguf"})
    strike_off(*find_data(one));
  EXPECT_THAT(architectures_left, testing::IsEmpty());
  for (const TensorType type : formats_left) ADD_FAILURE() << "no reference of " << format_of(type).name;
}

TEST(ReferenceLogits, AgreeForEveryArchitectureAndFormat) {
  const auto folder = find_data("reference");
  if (!folder) GTEST_SKIP() << "needs the extra data's reference/ and arch/";
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    expect_agreement(folder->parent_path() / "arch" / entry.path().filename().replace_extension(".gguf"),
                     entry.path(), {{KvType::f32, KvType::f32}});  // as in the other engine
    ++compared;
  }
  EXPECT_GE(compared, 22u);
}

/// A greedy text: the prompt's ids, then the id and logit of every token.
struct GoldenText {
  std::string prompt;
  std::vector<Token> prompt_tokens;
  struct Step {
    Token token;
    double logit;
  };
  std::vector<Step> steps;
};

std::vector<GoldenText> read_golden(const fs::path& path) {
  std::vector<GoldenText> texts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, word;
    words >> first;
    if (first == "PROMPT") {
      texts.push_back({line.substr(7), {}, {}});
    } else if (first == "PROMPT_IDS") {
      for (Token token; words >> token;) texts.back().prompt_tokens.push_back(token);
    } else if (GoldenText::Step step; words >> word && word == "logit" && words >> step.logit) {
      step.token = std::stoi(first);
      texts.back().steps.push_back(step);
    }
  }
  return texts;
}

/// Decodes greedily along a golden text. If two tokens are nearly equal, the golden one is taken. The golden
/// engine's cache is in half precision, so its logits are off by up to 0.08.
void expect_greedy(const Transformer& model, const GoldenText& golden, const std::string& what) {
  std::vector<Token> text = golden.prompt_tokens;
  const auto session = model.start(text.size() + golden.steps.size(), 1).value();
  for (std::size_t i = 0; i < golden.steps.size(); ++i) {
    const GoldenText::Step& step = golden.steps[i];
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    const Logits row = session->logits(TokenTree::root);
    std::vector<Token> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    const auto logit = [&](Token t) { return row.at(t); };
    std::ranges::partial_sort(order, order.begin() + 2, std::greater{}, logit);
    if (logit(order[0]) - logit(order[1]) > 0.01) {
      ASSERT_EQ(order[0], step.token) << what << ", token " << i << " after \"" << golden.prompt << "\"";
    }
    ASSERT_NEAR(logit(step.token), step.logit, 0.1) << what << ", token " << i;
    text.push_back(step.token);
  }
}

void expect_golden(const std::string& name) {
  const RealModel model = RealModel::load("models/" + name + ".gguf", 2);
  const auto texts = read_golden(find_data("golden/" + name + ".txt").value());
  EXPECT_GE(texts.size(), 3u);
  for (const GoldenText& golden : texts) {
    EXPECT_GE(golden.steps.size(), 20u);
    EXPECT_EQ(model.tokenizer->encode(golden.prompt), golden.prompt_tokens) << golden.prompt;
    expect_greedy(*model, golden, name);
  }
}

TEST(GreedyText, IsTheGoldenOneOfTheTinyModels) {
  expect_golden("stories260K-f32");
  expect_golden("llama2xs-281K-f32");
}

TEST(GreedyText, IsTheGoldenOneOfTheBundledDrafts) {
  expect_golden("spectr-stories-draft-0.6m-f16");
  expect_golden("spectr-stories-draft-1.2m-f16");
}

TEST(GreedyText, IsTheGoldenOneOfTheBundledTarget) {
  expect_golden("spectr-stories-7m-f16");
}

TEST(GreedyText, IsTheGoldenOneOfOtherModels) {
  if (!find_data("golden/babyllama-105-f32.txt"))
    GTEST_SKIP() << "needs the extra data's golden/babyllama-105-f32.txt";
  expect_golden("babyllama-105-f32");
  expect_golden("babyllama-361cut105-f32");
  expect_golden("stories260K-q80_qat_polish384-f32");
}

}  // namespace
}  // namespace spectr
