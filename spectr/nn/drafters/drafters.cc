#include "spectr/nn/drafters/drafters.h"

#include <algorithm>
#include <filesystem>

#include "spectr/base/names.h"
#include "spectr/gguf/split_file.h"
#include "spectr/nn/drafters/drafter_reader.h"

namespace spectr {
namespace {

constexpr DrafterFamily families[] = {
    {"dflash", true, read_dflash},
    {"eagle3", true, read_eagle3},
    {"gemma4-assistant", false, read_gemma4_assistant},
};

const DrafterFamily* family_of(const Gguf& file) {
  const auto name = file.string("general.architecture", "");
  if (!name) return nullptr;
  const auto found = std::ranges::find(drafter_families(), *name, &DrafterFamily::architecture);
  return found == drafter_families().end() ? nullptr : &*found;
}

}  // namespace

std::span<const DrafterFamily> drafter_families() {
  return families;
}

bool is_trained_drafter(const Gguf& file) {
  return family_of(file) != nullptr || (has_next_token_layer(file) && lacks_own_blocks(file));
}

Result<TapSettings> taps_of(const Gguf& file) {
  const DrafterFamily* family = family_of(file);
  if (family == nullptr) return next_token_taps(file);
  if (!family->lists_layers) {
    return TapSettings{{{0, true}},
                       fmt::format("{}: general.architecture is {}", file.name(), family->architecture)};
  }
  SPECTR_TRY(auto taps, target_taps(file, family->architecture));
  return TapSettings{std::move(taps), fmt::format("{}: {}.target_layers", file.name(), family->architecture)};
}

Result<DrafterSpec> read_drafter_spec(const Gguf& file, const ModelSpec& target) {
  const DrafterFamily* family = family_of(file);
  if (family == nullptr) return read_next_token_layer(file, target);
  SPECTR_TRY_VOID(refuse_split(file));
  DrafterSpec drafter{};
  ModelSpec& spec = drafter.model;
  spec.file = file.name();
  spec.architecture = family->architecture;
  const std::string stem = std::filesystem::path(file.name()).stem();
  SPECTR_TRY(const std::string_view own_name, file.string("general.name", stem));
  spec.name = escape(own_name);
  spec.vocabulary = target.vocabulary;
  const RopeChoice as_stated{};
  ArchReader in(file, family->architecture, as_stated, spec);
  SPECTR_TRY(const std::size_t blocks, in.count("block_count", 512));
  in.set_blocks(blocks, blocks);
  drafter.taps = {{target.layers.size(), true}};
  if (family->lists_layers) {
    SPECTR_TRY(drafter.taps, target_taps(file, family->architecture));
    SPECTR_TRY_VOID(check_taps(in, drafter.taps, target));
  }
  SPECTR_TRY_VOID(same_as_target(in, "vocab_size", target.vocabulary, "the vocabulary", target));
  SPECTR_TRY_VOID(same_as_target(in, "target_hidden_size", target.width, "the width", target));
  SPECTR_TRY_VOID(family->read(in, target, drafter));
  SPECTR_TRY_VOID(in.end_of_tensors());
  spec.context = target.context;  // positions are those of the target
  spec.max_context = target.max_context;
  spec.requirements.push_back(
      {Feature::drafter_inputs, fmt::format("general.architecture is {}", family->architecture)});
  return drafter;
}

}  // namespace spectr
