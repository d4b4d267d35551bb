#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "spectr/text/jinja/from_json.h"
#include "spectr/text/jinja/template.h"
#include "tests/support/data.h"

namespace spectr::jinja {
namespace {

using Json = nlohmann::json;

const Json conversations = Json::parse(R"([
 [{"role": "user", "content": "Hi"}],
 [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi "},
  {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Bye\n"}],
 [{"role": "system", "content": "Think. /no_think"}, {"role": "user", "content": "é"},
  {"role": "assistant", "content": "\nA"}, {"role": "user", "content": "q"}]])");

/// A template, a conversation, and the length and FNV-1a hash of Jinja 3.1's output with trim_blocks and
/// lstrip_blocks. Length 0 means that it raises an error.
struct Golden {
  const char* name;
  std::size_t conversation;
  std::size_t length;
  std::uint64_t hash;
};

constexpr Golden goldens[] = {
    {"HuggingFaceTB-SmolLM3-3B", 0, 1340, 0x1b040a7056fb444c},
    {"HuggingFaceTB-SmolLM3-3B", 1, 259, 0xbea9067ea2474c56},
    {"HuggingFaceTB-SmolLM3-3B", 2, 286, 0xc12d69663e412fa0},
    {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", 0, 855, 0xe5cc371a43f00567},
    {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", 1, 966, 0x82569691b57206b5},
    {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", 2, 965, 0xa5c728ca846fb248},
    {"Qwen-Qwen2.5-7B-Instruct", 0, 150, 0xb4f3434a4f69bac3},
    {"Qwen-Qwen2.5-7B-Instruct", 1, 163, 0xd4e9376b1db18bd9},
    {"Qwen-Qwen2.5-7B-Instruct", 2, 162, 0x24cbd9b4d87f0ee4},
    {"google-gemma-2-2b-it", 0, 60, 0xd9d8019c65e60f86},
    {"google-gemma-2-2b-it", 1, 0, 0},
    {"google-gemma-2-2b-it", 2, 0, 0},
    {"ibm-granite-granite-3.3-2B-Instruct", 1, 278, 0x9b120110186d7d37},
    {"ibm-granite-granite-3.3-2B-Instruct", 2, 277, 0x751c39de29c03380},
    {"meta-llama-Llama-3.1-8B-Instruct", 0, 221, 0x0172c62b57d7d202},
    {"meta-llama-Llama-3.1-8B-Instruct", 1, 347, 0xea92c5fa4bb788ce},
    {"meta-llama-Llama-3.1-8B-Instruct", 2, 348, 0xdffd9f72881d8d45},
    {"meta-llama-Llama-3.2-3B-Instruct", 0, 221, 0x0172c62b57d7d202},
    {"meta-llama-Llama-3.2-3B-Instruct", 1, 347, 0xea92c5fa4bb788ce},
    {"meta-llama-Llama-3.2-3B-Instruct", 2, 348, 0xdffd9f72881d8d45},
    {"microsoft-Phi-3.5-mini-instruct", 0, 33, 0xed81420f826a552e},
    {"microsoft-Phi-3.5-mini-instruct", 1, 111, 0x65612cc275863040},
    {"microsoft-Phi-3.5-mini-instruct", 2, 110, 0xf1eb80ab46b7186b},
    {"mistralai-Mistral-Nemo-Instruct-2407", 0, 18, 0x42ac8c5e79e09966},
    {"mistralai-Mistral-Nemo-Instruct-2407", 1, 57, 0xbd90c18bbbfaa5b0},
    {"mistralai-Mistral-Nemo-Instruct-2407", 2, 56, 0xe6da75da24f36329},
};

std::uint64_t hash(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

TEST(PublishedTemplates, GiveWhatJinjaGives) {
  for (const Golden& golden : goldens) {
    const auto path = find_data("templates/" + std::string(golden.name) + ".jinja");
    if (!path) GTEST_SKIP() << "needs the extra data's templates/" << golden.name << ".jinja";
    std::ostringstream source;
    source << std::ifstream(*path).rdbuf();
    const auto parsed = Template::parse(source.str());
    ASSERT_TRUE(parsed) << golden.name << ": " << parsed.error().message;
    const Json variables = {{"messages", conversations[golden.conversation]},
                            {"add_generation_prompt", true},
                            {"bos_token", "<s>"},
                            {"eos_token", "</s>"},
                            {"date_string", "26 Jul 2024"}};
    const auto text = parsed->render(*from_json(variables, true)->dict());
    ASSERT_EQ(text.has_value(), golden.length > 0)
        << golden.name << " " << golden.conversation << (text ? "" : ": " + text.error().message);
    if (!text) continue;
    EXPECT_EQ(text->size(), golden.length) << golden.name << " " << golden.conversation << "\n"
                                           << text->bytes();
    EXPECT_EQ(hash(text->bytes()), golden.hash) << golden.name << " " << golden.conversation;
  }
}

}  // namespace
}  // namespace spectr::jinja
