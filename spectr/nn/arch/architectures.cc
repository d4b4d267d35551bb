#include "spectr/nn/arch/architectures.h"

#include <algorithm>
#include <filesystem>

#include "spectr/base/names.h"
#include "spectr/gguf/split_file.h"

namespace spectr {
namespace {

constexpr Architecture all[] = {
    {"llama", read_llama},       {"qwen2", read_qwen2},   {"qwen3", read_qwen3},   {"smollm3", read_smollm3},
    {"granite", read_granite},   {"olmo2", read_olmo2},   {"gpt2", read_gpt2},     {"gptneox", read_gptneox},
    {"qwen3moe", read_qwen3moe}, {"gemma2", read_gemma2}, {"gemma3", read_gemma3},
};

}  // namespace

std::span<const Architecture> architectures() {
  return all;
}

Result<ModelSpec> read_model_spec(const Gguf& file) {
  SPECTR_TRY_VOID(refuse_split(file));
  SPECTR_TRY(const auto name, file.string("general.architecture"));
  const auto found = std::ranges::find(architectures(), name, &Architecture::name);
  if (found == architectures().end()) {
    return error("{}: general.architecture is {}, but {} are supported", file.name(), quote(name),
                 names_of(all, ", "));
  }
  ModelSpec spec{};
  spec.file = file.name();
  spec.architecture = name;
  const std::string stem = std::filesystem::path(file.name()).stem();
  SPECTR_TRY(const std::string_view own_name, file.string("general.name", stem));
  spec.name = escape(own_name);
  ArchReader in(file, name, spec);
  SPECTR_TRY_VOID(found->read(in));
  SPECTR_TRY_VOID(in.end_of_tensors());
  return spec;
}

}  // namespace spectr
