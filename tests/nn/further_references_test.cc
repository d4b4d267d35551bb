// Small random models of further architectures, with the logits of other
// engines, from the extra data's arch2/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/transformer.h"
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

std::unique_ptr<Transformer> loaded(const fs::path& reference, const Json& json,
                                    std::shared_ptr<const Backend> backend) {
  auto model =
      Transformer::load(Gguf::open(reference.parent_path() / json["model"].get<std::string>()).value(),
                        std::move(backend), {.kv = {KvType::f32, KvType::f32}});
  EXPECT_TRUE(model) << model.error().message;
  return std::move(*model);
}

/// If a file's weights are quantized, spectr quantizes activations, too.
double tolerance(const Json& json) {
  const std::string model = json["model"];
  if (model.find("layers") != std::string::npos) return 5e-3;  // F16
  return json["arch"] == "gpt-oss" || model.find("Q4_K") != std::string::npos ? 0.06 : 1e-4;
}

/// Compares the logits after every listed position, in order (so the text is read in
/// pieces), and the greedy continuation.
void expect_agreement(const fs::path& reference) {
  const Json json = Json::parse(std::ifstream(reference));
  ThreadPool pool(2);
  const auto model = loaded(reference, json, std::make_shared<CpuBackend>(pool));
  const auto tokens = json["tokens"].get<std::vector<Token>>();
  const auto context = json["context"].get<std::size_t>();
  const auto session = model->start(context, 1).value();
  for (std::size_t i = 0; i < json["positions"].size(); ++i) {
    const auto text = std::span(tokens).first(json["positions"][i].get<std::size_t>() + 1);
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    const auto expected = json["logits"][i].get<std::vector<double>>();
    ASSERT_EQ(session->logits(TokenTree::root).size(), expected.size());
    EXPECT_LE(relative_distance(session->logits(TokenTree::root), expected), tolerance(json))
        << reference << ", after " << text.size() << " tokens";
  }
  if (tolerance(json) > 1e-3) return;  // greedy texts are compared for exact weights only
  const Json& greedy = json["greedy"];
  auto text = greedy["prompt_tokens"].get<std::vector<Token>>();
  session->rewind(0);
  for (const Json& id : greedy["ids"]) {
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    text.push_back(likeliest_token(session->logits(TokenTree::root)));
    ASSERT_EQ(text.back(), id.get<Token>()) << reference << ", token " << text.size() - 1;
  }
}

/// Returns the references in a folder whose architectures are supported.
std::vector<fs::path> references_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (!path.filename().string().starts_with("reference") || path.extension() != ".json") continue;
    const Json json = Json::parse(std::ifstream(path));
    // Another engine rounds YaRN's bounds for every file, but the model was trained without rounding.
    const bool rounds = json["arch"] == "gpt-oss" && path.filename() == "reference.json";
    const bool is_known = std::ranges::find(architectures(), json["arch"].get<std::string>(),
                                            &Architecture::name) != architectures().end();
    const bool is_other = path.parent_path().filename() == "llama-quants" || json.contains("files") ||
                          !json["model"].get<std::string>().ends_with(".gguf");
    if (is_known && !rounds && !is_other) found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

TEST(FurtherReferences, AgreeAtAllPositionsAndGreedily) {
  const std::vector<fs::path> all = references_in(source_folder() / "tests/data/arch2");
  EXPECT_GE(all.size(), 12U);
  for (const fs::path& one : all) expect_agreement(one);
}

TEST(FurtherReferences, OfTheExtraDataAgreeAtAllPositionsAndGreedily) {
  const fs::path folder = extra_data_folder() / "arch2";
  if (!fs::exists(folder)) GTEST_SKIP() << "needs the extra data's arch2/";
  for (const fs::path& one : references_in(folder)) expect_agreement(one);
}

/// The reference backend in double precision agrees, too.
TEST(FurtherReferences, AreTheReferenceBackendsToo) {
  for (const fs::path& one : references_in(source_folder() / "tests/data/arch2")) {
    const Json json = Json::parse(std::ifstream(one));
    const auto model =
        loaded(one, json, std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64));
    const auto tokens = json["tokens"].get<std::vector<Token>>();
    const auto session = model->start(json["context"].get<std::size_t>(), 1).value();
    ASSERT_TRUE(session->score(tokens, TokenTree(tokens.back())));
    EXPECT_LE(
        relative_distance(session->logits(TokenTree::root), json["logits"].back().get<std::vector<double>>()),
        5e-5)
        << one;
  }
}

}  // namespace
}  // namespace spectr
