#pragma once

#include <span>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// A family of transformers, with the function that reads its files.
struct Architecture {
  std::string_view name;                 ///< value of `general.architecture`
  Result<void> (*read)(ArchReader& in);  ///< fills in the spec
};

/// Returns all architectures.
std::span<const Architecture> architectures();

/// Returns what a model file computes. Settings of `rope` override the file's keys. Error: an unknown
/// architecture, a split file, or a key or tensor, by name, that is missing, out of bounds, of a shape that
/// contradicts others, or unknown to the architecture.
Result<ModelSpec> read_model_spec(const Gguf& file, const RopeChoice& rope = {});

/// Reads all blocks of the file as layers: those that predict further tokens follow the model's own layers.
Result<ModelSpec> read_all_blocks(const Gguf& file, const RopeChoice& rope = {});

// One source file per architecture, or per family and its variants.
Result<void> read_bert(ArchReader& in);
Result<void> read_deepseek2(ArchReader& in);
Result<void> read_gemma2(ArchReader& in);
Result<void> read_gemma3(ArchReader& in);
Result<void> read_gemma4(ArchReader& in);
Result<void> read_glm4moe(ArchReader& in);
Result<void> read_gpt2(ArchReader& in);
Result<void> read_gpt_oss(ArchReader& in);
Result<void> read_gptneox(ArchReader& in);
Result<void> read_granite(ArchReader& in);
Result<void> read_lfm2(ArchReader& in);
Result<void> read_lfm2moe(ArchReader& in);
Result<void> read_llama(ArchReader& in);
Result<void> read_mistral3(ArchReader& in);
Result<void> read_nomic_bert(ArchReader& in);
Result<void> read_olmo2(ArchReader& in);
Result<void> read_opt(ArchReader& in);
Result<void> read_phi3(ArchReader& in);
Result<void> read_qwen2(ArchReader& in);
Result<void> read_qwen2vl(ArchReader& in);
Result<void> read_qwen3(ArchReader& in);
Result<void> read_qwen35(ArchReader& in);
Result<void> read_qwen35moe(ArchReader& in);
Result<void> read_qwen3moe(ArchReader& in);
Result<void> read_qwen3vl(ArchReader& in);
Result<void> read_qwen3vlmoe(ArchReader& in);
Result<void> read_smollm3(ArchReader& in);

}  // namespace spectr
