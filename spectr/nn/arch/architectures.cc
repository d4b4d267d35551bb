#include "spectr/nn/arch/architectures.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/gguf/split_file.h"

namespace spectr {
namespace {

constexpr Architecture all[] = {
    {"llama", read_llama},
    {"qwen2", read_qwen2},
    {"qwen2vl", read_qwen2vl},
    {"qwen3", read_qwen3},
    {"qwen3vl", read_qwen3vl},
    {"qwen3moe", read_qwen3moe},
    {"qwen3vlmoe", read_qwen3vlmoe},
    {"qwen35", read_qwen35},
    {"qwen35moe", read_qwen35moe},
    {"gemma2", read_gemma2},
    {"gemma3", read_gemma3},
    {"gemma4", read_gemma4},
    {"gpt-oss", read_gpt_oss},
    {"phi3", read_phi3},
    {"mistral3", read_mistral3},
    {"smollm3", read_smollm3},
    {"granite", read_granite},
    {"olmo2", read_olmo2},
    {"lfm2", read_lfm2},
    {"lfm2moe", read_lfm2moe},
    {"glm4moe", read_glm4moe},
    {"deepseek2", read_deepseek2},
    {"gpt2", read_gpt2},
    {"gptneox", read_gptneox},
    {"opt", read_opt},
    {"bert", read_bert},
    {"nomic-bert", read_nomic_bert},
};

/// Reads the number of layers, and of the blocks after them that predict further tokens.
Result<void> read_blocks(ArchReader& in, bool all_blocks) {
  constexpr std::uint64_t max_blocks = 512;
  SPECTR_TRY(const std::size_t blocks, in.count("block_count", max_blocks));
  SPECTR_TRY(const std::size_t further, in.count_or_none("nextn_predict_layers", blocks - 1));
  if (all_blocks) {
    in.set_all_blocks(blocks, blocks - further);
  } else {
    in.set_blocks(blocks, blocks - further);
  }
  return {};
}

/// Reads the tokens that are never generated, although a model may favour some of them, such as placeholders
/// of images. Tokens outside the vocabulary are skipped.
Result<void> read_forbidden(ArchReader& in) {
  constexpr std::string_view key = "tokenizer.ggml.suppress_tokens";
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const auto tokens, in.file().integers(key));
  for (const std::int64_t token : tokens) {
    if (token >= 0 && std::cmp_less(token, spec.vocabulary))
      spec.head.forbidden.push_back(static_cast<Token>(token));
  }
  std::vector<Token>& forbidden = spec.head.forbidden;
  std::ranges::sort(forbidden);
  const auto again = std::ranges::unique(forbidden);
  forbidden.erase(again.begin(), again.end());
  if (forbidden.size() == spec.vocabulary) return error("{}: {} has all tokens", in.file().name(), key);
  if (!forbidden.empty()) {
    spec.requirements.push_back(
        {Feature::forbidden_tokens, fmt::format("{} has {} tokens", key, forbidden.size())});
  }
  return {};
}

}  // namespace

std::span<const Architecture> architectures() {
  return all;
}

namespace {

Result<ModelSpec> read_spec(const Gguf& file, const RopeChoice& rope, bool all_blocks) {
  SPECTR_TRY_VOID(refuse_split(file));
  SPECTR_TRY(const auto name, file.string("general.architecture"));
  const auto found = std::ranges::find(architectures(), name, &Architecture::name);
  if (found == architectures().end()) {
    return error(ErrorCode::unsupported, "{}: general.architecture is {}, but {} are supported", file.name(),
                 quote(name), names_of(all, ", "));
  }
  ModelSpec spec{};
  spec.file = file.name();
  spec.architecture = name;
  const std::string stem = std::filesystem::path(file.name()).stem();
  SPECTR_TRY(const std::string_view own_name, file.string("general.name", stem));
  spec.name = escape(own_name);
  ArchReader in(file, name, rope, spec);
  SPECTR_TRY_VOID(read_blocks(in, all_blocks));
  SPECTR_TRY_VOID(found->read(in));
  SPECTR_TRY_VOID(read_forbidden(in));
  SPECTR_TRY_VOID(in.end_of_tensors());
  return spec;
}

}  // namespace

Result<ModelSpec> read_model_spec(const Gguf& file, const RopeChoice& rope) {
  return read_spec(file, rope, false);
}

Result<ModelSpec> read_all_blocks(const Gguf& file, const RopeChoice& rope) {
  return read_spec(file, rope, true);
}

}  // namespace spectr
