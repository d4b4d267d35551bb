#pragma once

#include <string_view>

namespace spectr {

/// Texts of tokens that end a text or a turn in published models. Files often name only one of them by id.
inline constexpr std::string_view end_token_texts[] = {
    "</s>",                                     // Llama 1 and 2, Mistral
    "<|endoftext|>",                            // GPT-2, GPT-NeoX, StarCoder, Qwen
    "<|end_of_text|>",                          // Llama 3, Granite
    "<|eot_id|>",                               // Llama 3, turn
    "<|eom_id|>",                               // Llama 3, message
    "<|im_end|>",                               // ChatML: Qwen, SmolLM
    "<|end|>",                                  // Phi-3
    "<eos>",                                    // Gemma
    "<end_of_turn>",                            // Gemma, turn
    "<end_of_utterance>",                       // SmolVLM
    "\u2581<EOT>",                              // CodeLlama
    "<EOT>",                                    // the same, as some vocabularies write it
    "[EOT]",                                    // Kimi
    "[EOS]",                                    // Kimi
    "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",  // DeepSeek
    // After a completion in the middle of a file: padding,
    "<|fim_pad|>",  // Qwen Coder
    "<fim-pad>",
    "<fim_pad>",  // StarCoder, Granite
    "<PAD>", "[PAD]",
    // the next repository,
    "<|repo_name|>",  // Qwen Coder
    "<|fim_repo|>", "<fim-repo>", "<REPO>",
    "<reponame>",  // Granite
    // and the next file.
    "<|file_sep|>",  // Qwen Coder
};

}  // namespace spectr
