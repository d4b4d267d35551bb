// `spectr embed`, and the commands that refuse encoders.
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

std::string encoder_path(const std::string& file) {
  return (source_folder() / "tests/data/encoders" / file).string();
}

std::string printed_by(const Arguments& command) {
  const Outcome ran = spectr(command);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

const Arguments embed_cat = {"embed", "-m", encoder_path("bert-f32.gguf"), "-p", "The cat sat on the mat."};

TEST(Embed, PrintsTheReferencesStates) {
  const Json reference = Json::parse(std::ifstream(encoder_path("bert-f32.json")))["cases"][0];
  const Json found = Json::parse(printed_by(embed_cat + Arguments{"--json", "--pooling", "none"}));
  EXPECT_EQ(found["tokens"], reference["tokens"]);
  EXPECT_EQ(found["pooling"], "none");
  ASSERT_EQ(found["embedding"].size(), reference["states"].size());
  for (std::size_t i = 0; i < reference["states"].size(); ++i)
    for (std::size_t j = 0; j < reference["states"][i].size(); ++j)
      EXPECT_NEAR(found["embedding"][i][j].get<double>(), reference["states"][i][j].get<double>(), 1e-4);
}

TEST(Embed, PrintsOneVectorOfLengthOneByDefault) {
  const Json found = Json::parse(printed_by(embed_cat + Arguments{"--json"}));
  EXPECT_EQ(found["pooling"], "mean");
  double sum = 0.0;
  for (const Json& number : found["embedding"]) sum += number.get<double>() * number.get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-6);
  std::istringstream line(printed_by(embed_cat));
  std::vector<double> numbers((std::istream_iterator<double>(line)), std::istream_iterator<double>());
  ASSERT_EQ(numbers.size(), found["embedding"].size());
  EXPECT_NEAR(numbers[3], found["embedding"][3].get<double>(), 1e-6);
}

TEST(Embed, TakesModelsThatGenerateToo) {
  const Json found = Json::parse(printed_by({"embed", "-m", target(), "-p", "Once", "--json"}));
  EXPECT_EQ(found["pooling"], "last");
}

TEST(Embed, RefusesWhatItCannotDo) {
  expect_error({"embed", "-m", encoder_path("bert-f32.gguf"), "-p", "a", "--pooling", "rank"},
               "pooling by rank needs a classifier");
  expect_error({"embed", "-m", encoder_path("bert-f32.gguf"), "-p", "a", "--pooling", "max"}, "--pooling");
}

TEST(Encoders, AreRefusedByCommandsThatGenerate) {
  const std::string name = "general.architecture is bert: an encoder gives embeddings";
  expect_error({"generate", "-m", encoder_path("bert-f32.gguf"), "-p", "a"}, name);
  expect_error({"logits", "-m", encoder_path("bert-f32.gguf"), "--tokens", "2,5,3"}, name);
}

}  // namespace
}  // namespace spectr::test
