#include "tests/support/models/scripted_model.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "spectr/text/byte_alphabet.h"
#include "spectr/text/vocabulary.h"
#include "tests/support/models/tiny_tensors.h"

namespace spectr::test {
namespace {

constexpr std::size_t script_heads = 10, script_head_dim = 32, script_width = script_heads * script_head_dim;
constexpr std::size_t script_context = 4096;

/// The tokens of a file, and the successor of each.
struct ScriptedTokens {
  std::vector<std::string> texts;
  std::vector<std::int32_t> kinds;
  std::vector<std::size_t> next;

  std::size_t add(const std::string& text, TokenKind kind) {
    texts.push_back(text);
    kinds.push_back(static_cast<std::int32_t>(kind));
    next.push_back(0);
    return texts.size() - 1;
  }
};

ScriptedTokens tokens_of(const ScriptedModel::Scripts& scripts) {
  ScriptedTokens tokens;
  for (int byte = 0; byte < 256; ++byte) {
    std::string character;
    append_alphabet_character(static_cast<unsigned char>(byte), character);
    tokens.add(character, TokenKind::normal);
  }
  const std::size_t end = tokens.add("<|im_end|>", TokenKind::control);
  tokens.next.assign(tokens.next.size(), end);
  for (const auto& [character, pieces] : scripts) {
    std::size_t last = static_cast<unsigned char>(character);
    for (const std::string& piece : pieces)
      last = tokens.next[last] = tokens.add(piece, TokenKind::user_defined);
    tokens.next[last] = end;
  }
  return tokens;
}

std::vector<std::byte> scripted_file(const ScriptedTokens& tokens, const ScriptedModel::Ids& ids) {
  GgufWriter file = tiny_model("llama");
  const auto set = [&file](std::string_view key, std::size_t value) {
    file.set("llama." + std::string(key), static_cast<std::uint32_t>(value));
  };
  set("context_length", script_context);
  set("embedding_length", script_width);
  set("attention.head_count", script_heads);
  file.set("tokenizer.ggml.model", "gpt2")
      .set("tokenizer.ggml.pre", "gpt-2")
      .set("tokenizer.ggml.tokens", tokens.texts)
      .set("tokenizer.ggml.token_type", tokens.kinds)
      .set("tokenizer.ggml.merges", std::vector<std::string>())
      .set("tokenizer.ggml.bos_token_id", std::uint32_t{256})
      .set("tokenizer.ggml.eos_token_id", std::uint32_t{256});
  for (const auto& [key, id] : ids) file.set(key, id);
  const std::size_t vocabulary = tokens.texts.size();
  std::vector<WrittenTensor> tensors = tiny_tensors("llama", {.heads = script_heads,
                                                              .kv_heads = script_heads,
                                                              .head_dim = script_head_dim,
                                                              .vocabulary = vocabulary,
                                                              .width = script_width});
  // Token i is the i-th unit vector, layers add nothing, and row next(i) of the output is parallel to it.
  WrittenTensor output{.name = "output.weight", .shape = {script_width, vocabulary}};
  output.numbers.resize(script_width * vocabulary);
  for (WrittenTensor& tensor : tensors) {
    if (tensor.name == "output_norm.weight") tensor.numbers.assign(script_width, 1.0F);
    if (tensor.name != "token_embd.weight") continue;
    tensor.numbers.resize(script_width * vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i) {
      tensor.numbers[i * script_width + i] = 1.0F;
      output.numbers[tokens.next[i] * script_width + i] = 4.0F;
    }
  }
  tensors.push_back(std::move(output));
  return with_tensors(std::move(file), tensors).bytes();
}

}  // namespace

ScriptedModel::ScriptedModel(const Scripts& scripts, const Ids& ids) {
  char name[] = "/tmp/spectr-test-XXXXXX";
  if (const int file = mkstemp(name); file >= 0) close(file);
  path_ = name;
  const std::vector<std::byte> bytes = scripted_file(tokens_of(scripts), ids);
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

ScriptedModel::~ScriptedModel() {
  std::filesystem::remove(path_);
}

}  // namespace spectr::test
