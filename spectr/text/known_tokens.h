#pragma once

#include <array>
#include <string_view>

namespace spectr {

// Meanings of tokens of published models, identified by their texts: GGUF files give the id of at most one
// token of each kind.

/// Tokens that end a text or a turn.
inline constexpr std::string_view end_token_texts[] = {
    "</s>",                                     // Llama 1 and 2, Mistral
    "<|endoftext|>",                            // GPT-2, GPT-NeoX, StarCoder, Qwen
    "<|end_of_text|>",                          // Llama 3, Granite
    "<|eot_id|>",                               // Llama 3, turn
    "<|eom_id|>",                               // Llama 3, message
    "<|eot|>",                                  // Llama 4, turn
    "<|eom|>",                                  // Llama 4, message
    "<|im_end|>",                               // ChatML: Qwen, SmolLM
    "<|end|>",                                  // Phi-3
    "<|return|>",                               // gpt-oss, answer
    "<|call|>",                                 // gpt-oss, call of a tool
    "<|flush|>",                                // Solar Open, answer
    "<|calls|>",                                // Solar Open, calls of tools
    "<eos>",                                    // Gemma
    "<end_of_turn>",                            // Gemma 1 to 3, turn
    "<turn|>",                                  // Gemma 4, turn
    "<|tool_response>",                         // Gemma 4: before a tool's response
    "<end_of_utterance>",                       // SmolVLM
    "\u2581<EOT>",                              // CodeLlama
    "<EOT>",                                    // CodeLlama's, as some vocabularies write it
    "[EOT]",                                    // Kimi
    "[EOS]",                                    // Kimi
    "[e~[",                                     // MiniMax
    "<|role_end|>",                             // Ling
    "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",  // DeepSeek
    // End tokens after an infilled completion: padding,
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

// Tokens around a gap to be filled (infill): before its prefix, before its suffix, and at its place.
inline constexpr std::string_view infill_prefix_texts[] = {
    "<|fim_prefix|>",  // Qwen Coder
    "<fim-prefix>",
    "<fim_prefix>",                  // StarCoder, Granite
    "<\uFF5Cfim\u2581begin\uFF5C>",  // DeepSeek
    "<PRE>",
    "\u2581<PRE>",      // CodeLlama
    "<|code_prefix|>",  // GLM
    "<|prefix|>",       // Falcon-H1 Coder
};
inline constexpr std::string_view infill_suffix_texts[] = {
    "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",    "<\uFF5Cfim\u2581hole\uFF5C>",
    "<SUF>",          "\u2581<SUF>",  "<|code_suffix|>", "<|suffix|>",
};
inline constexpr std::string_view infill_middle_texts[] = {
    "<|fim_middle|>", "<fim-middle>", "<fim_middle>",    "<\uFF5Cfim\u2581end\uFF5C>",
    "<MID>",          "\u2581<MID>",  "<|code_middle|>", "<|middle|>",
};
// Tokens before the name of a repository and of a file. They are also end tokens.
inline constexpr std::string_view infill_repository_texts[] = {
    "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>",
};
inline constexpr std::string_view infill_file_texts[] = {"<|file_sep|>"};

/// A text that is not an end token if the vocabulary has all of the others, which are.
struct NoEnd {
  std::string_view text;
  std::array<std::string_view, 2> where;
};
inline constexpr NoEnd no_ends[] = {
    {"<|end|>", {"<|return|>", "<|call|>"}},    // ends a message of gpt-oss
    {"<|end|>", {"<|flush|>", "<|calls|>"}},    // and of Solar Open
    {"</s>", {"<|tool_response>", "<turn|>"}},  // Gemma 4: HTML
};

/// Tokens that divide an answer into reasoning, content and tool calls. They are printed although they are
/// control tokens, because parsers of the answer need them.
inline constexpr std::string_view marker_texts[] = {
    "<|start|>",
    "<|channel|>",
    "<|constrain|>",  // gpt-oss
    "<|message|>",    // gpt-oss
    "<|channel>",
    "<channel|>",  // Gemma 4
    "<think>",
    "</think>",  // Qwen, DeepSeek, and many more
    "[THINK]",
    "[/THINK]",  // Magistral
    "<seed:think>",
    "</seed:think>",  // Seed-OSS
    "<|START_THINKING|>",
    "<|END_THINKING|>",  // Command R7B
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    // Tool calls.
    "<tool_call>",
    "</tool_call>",  // Hermes, Qwen, GLM
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",    // GLM
    "<|python_tag|>",  // Llama 3
    "<|tool_call|>",   // Granite
    "<|tool_call>",    // Gemma 4
    "<tool_call|>",
    "<|\"|>",
    "<|tool_call_start|>",  // LFM2
    "<|tool_call_end|>",
    "<|tools_prefix|>",  // Apertus
    "<|tools_suffix|>",
    "<|START_ACTION|>",  // Command R7B
    "<|END_ACTION|>",
    "<minimax:tool_call>",  // MiniMax
    "</minimax:tool_call>",
    "<seed:tool_call>",  // Seed-OSS
    "</seed:tool_call>",
    "[TOOL_CALLS]",  // Mistral
    "[CALL_ID]",
    "[ARGS]",
    "<|tool_calls_section_begin|>",  // Kimi K2
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<\uFF5Ctool\u2581calls\u2581begin\uFF5C>",  // DeepSeek
    "<\uFF5Ctool\u2581calls\u2581end\uFF5C>",
    "<\uFF5Ctool\u2581call\u2581begin\uFF5C>",
    "<\uFF5Ctool\u2581call\u2581end\uFF5C>",
    "<\uFF5Ctool\u2581sep\uFF5C>",
    "\uFF5CDSML\uFF5C",
};

}  // namespace spectr
