#include "spectr/text/pretokenizer_rules.h"

#include <array>

namespace spectr {
namespace {

// The regular expressions are facts about the models: those of their own tokenizers (tokenizer.json,
// tokenizer.model), in the form in which llama.cpp (src/llama-vocab.cpp, 2024-2026) interprets the names in
// GGUF files. Where the two disagree the latter counts, for that is what files have been converted for.

// Radford et al. 2019, encoder.py of GPT-2.
constexpr std::string_view gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::array<std::string_view, 1> gpt2 = {gpt2_words};

// StarCoder and SmolLM (tokenizer.json: Digits with individual_digits, then ByteLevel): every digit is a
// word.
constexpr std::array<std::string_view, 2> single_digits = {R"(\p{N})", gpt2_words};

// Falcon (tokenizer.json: Punctuation, contiguous; ByteLevel; a split at three digits).
constexpr std::array<std::string_view, 3> falcon = {R"([\p{P}$+<=>^~|`]+)", gpt2_words, R"([0-9][0-9][0-9])"};

// "default" of GGUF files: Falcon's without the grave accent, and with digits apart from the space before.
constexpr std::array<std::string_view, 4> fallback = {R"([\p{P}$+<=>^~|]+)", gpt2_words, R"(\p{N}+)",
                                                      R"([0-9][0-9][0-9])"};

// The words of OpenAI's cl100k_base (tiktoken), which Llama 3 and Qwen 2 share but for the length of numbers.
// The contractions are (?i:'s|…) there; spelt out, so that U+017F (ſ) is no s.
constexpr std::array<std::string_view, 1> llama3 = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr std::array<std::string_view, 1> qwen2 = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Mistral's Tekken. A word is capitals then small letters; GGUF's form knows the case of A-Z only and takes
// every other letter for both.
constexpr std::array<std::string_view, 1> tekken = {
    R"([^\r\n\p{L}\p{N}]?[^\P{L}a-z]*[^\P{L}A-Z]+|[^\r\n\p{L}\p{N}]?[^\P{L}a-z]+[^\P{L}A-Z]*|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// DeepSeek (tokenizer.json: a Sequence of Splits). "[一-龥ࠀ-一가-퟿]+", where GGUF's form does not
// count the spaces from U+1680 to U+3000.
constexpr std::string_view deepseek_cjk =
    R"([\x{800}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF})"
    R"(\x{3001}-\x{9FA5}\x{AC00}-\x{D7FF}]+)";
constexpr std::array<std::string_view, 5> deepseek_coder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                                            deepseek_cjk, R"(\p{N})"};

// Its letters are spelt out: those with case, as of an older Unicode. "\s+$" is written so that it fails at
// once inside a run of spaces.
constexpr std::array<std::string_view, 6> deepseek_llm = {
    R"([\r\n])",
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
    R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77})"
    R"(\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
    R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE})"
    R"(\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC})"
    R"(\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"
    R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E})"
    R"(\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
    R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
    R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F})"
    R"(\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF})"
    R"(\x{1E900}-\x{1E943}]+)",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3001}\x{3002}]+)",
    R"((?<!\s)\s++\z)",
    deepseek_cjk,
    R"(\p{N}+)"};

struct Named {
  std::string_view name;
  PretokenizerRule rule;
};

constexpr PretokenizerRule llama3_rule = {.regexes = llama3, .whole_words = true, .add_bos = true};

constexpr Named rules[] = {
    {"gpt-2", {gpt2}},
    {"gpt-neox", {gpt2}},
    {"mpt", {gpt2}},
    {"olmo", {gpt2}},
    {"phi-2", {gpt2}},
    {"mellum", {gpt2}},
    {"a.x-4.0", {gpt2}},
    {"trillion", {gpt2}},
    {"starcoder", {single_digits}},
    {"refact", {single_digits}},
    {"smollm", {single_digits}},
    {"command-r", {single_digits}},
    {"codeshell", {single_digits}},
    {"minerva-7b", {single_digits}},
    {"falcon", {falcon}},
    {"default", {fallback}},
    {"llama-bpe", llama3_rule},
    {"llama-v3", llama3_rule},
    {"llama3", llama3_rule},
    {"falcon3", llama3_rule},
    {"pixtral", llama3_rule},
    {"midm-2.0", llama3_rule},
    {"smaug-bpe", {llama3}},
    {"dbrx", {llama3}},
    {"qwen2", {qwen2}},
    {"deepseek-r1-qwen", {qwen2}},
    {"megrez", {qwen2}},
    {"kormo", {qwen2}},
    {"stablelm2", {qwen2}},
    {"tekken", {.regexes = tekken, .whole_words = true, .add_bos = true}},
    {"deepseek-llm", {deepseek_llm}},
    {"deepseek-coder", {deepseek_coder}},
};

}  // namespace

const PretokenizerRule* find_pretokenizer_rule(std::string_view name) {
  for (const Named& named : rules) {
    if (named.name == name) return &named.rule;
  }
  return nullptr;
}

}  // namespace spectr
