#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/server/generation_request.h"
#include "apps/server/model_set.h"
#include "spectr/base/token.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"
#include "spectr/text/reasoning.h"

namespace spectr::server {

/// The largest number of nodes of a token tree: what the memory of a slot's sessions is planned for.
inline constexpr std::size_t max_nodes = 65;

/// How the thoughts of an answer are told from what it says.
struct ReasoningTask {
  const ReasoningForm* form;
  std::string begun;  ///< what the prompt has of the answer
};

/// One text to generate. Checked: the method's decoder can be made, the prompt fits the context.
struct Task {
  std::vector<Token> prompt;  ///< never empty
  const MethodRule* method;
  MethodOptions settings;
  std::shared_ptr<const Warp> warp;  ///< of all texts of a request: biases may be many
  std::size_t limit;                 ///< max tokens to generate
  bool ignore_eos = false;
  std::vector<std::string> stop_words = {};
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;                     ///< which of several texts of one seed
  std::optional<std::size_t> details = {};      ///< tell each token's details, with so many alternatives
  bool cache_prompt = true;                     ///< use what the slot still knows of the prompt
  bool limited_by_context = false;              ///< more tokens were wanted than there is room for
  std::optional<ReasoningTask> reasoning = {};  ///< none: all is one text
  bool sampled_alternatives = false;  ///< those of the sampled distribution instead of the model's own
  bool progress = false;              ///< tell how far its prompt has been read
  std::size_t load = 1;               ///< by which the costs in the settings are shared
  // Set by Slots::submit:
  std::uint64_t request = 0;  ///< whose tasks may share their prompt
  std::chrono::steady_clock::time_point asked = {};
};

/// The texts that a request asks for, n per prompt; all share the seed, and their number makes them differ.
struct Tasks {
  std::vector<Task> tasks;
  std::uint64_t seed;
};

/// Of an answer to a prompt that the chat template of these models has made.
ReasoningTask reasoning_task(const MarkedText& prompt, const ModelSet& models);

/// The room that the server has for a request's texts.
struct Room {
  std::size_t context;    ///< tokens of prompt and text together
  std::size_t slots = 1;  ///< texts that are decoded concurrently
  std::size_t busy = 0;   ///< texts that are decoded or wait already
};

/// Everything that a request needs of the models is checked here. Throws ApiError. A request that says
/// neither its load nor its seed goes by how many texts there will be, so that it drafts less the more share
/// the passes; with a seed it goes by itself alone, so that its text can be repeated.
Tasks make_tasks(const GenerationRequest& request, const ModelSet& models, const Room& room);

/// Error: a block of it may have more nodes than a slot has room for. left: tokens that a text may have.
Result<void> check_block(const Decoder& decoder, std::size_t left = max_nodes);

/// The ids of a list, each inside the vocabulary. Throws ApiError that names `field`.
std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field);

}  // namespace spectr::server
