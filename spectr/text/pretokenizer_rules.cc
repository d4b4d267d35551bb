#include "spectr/text/pretokenizer_rules.h"

#include <array>

namespace spectr {
namespace {

// The regular expressions are properties of the models: they come from the models' own tokenizers
// (tokenizer.json, tokenizer.model), under their names in GGUF files. If llama.cpp (src/llama-vocab.cpp,
// 2024-2026) splits otherwise, rules from before 2024 follow llama.cpp, as files were converted for it; rules
// with Unicode's case and combining marks follow the models, which were trained on them.

// Radford et al. 2019, encoder.py of GPT-2.
constexpr std::string_view gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::array<std::string_view, 1> gpt2 = {gpt2_words};

// StarCoder and SmolLM (tokenizer.json: Digits with individual_digits, then ByteLevel): every digit is its
// own word.
constexpr std::array<std::string_view, 2> single_digits = {R"(\p{N})", gpt2_words};

// Falcon (tokenizer.json: Punctuation, contiguous; ByteLevel; a split at three digits).
constexpr std::array<std::string_view, 3> falcon = {R"([\p{P}$+<=>^~|`]+)", gpt2_words, R"([0-9][0-9][0-9])"};

// "default" of GGUF files: Falcon's without the grave accent, and without a space before digits.
constexpr std::array<std::string_view, 4> fallback = {R"([\p{P}$+<=>^~|]+)", gpt2_words, R"(\p{N}+)",
                                                      R"([0-9][0-9][0-9])"};

// The words of OpenAI's cl100k_base (tiktoken), which Llama 3 and Qwen 2 share except for number lengths. Its
// contractions are (?i:'s|…); they are spelled out here so that U+017F (ſ) does not match s.
constexpr std::array<std::string_view, 1> llama3 = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr std::array<std::string_view, 1> qwen2 = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Qwen 3.5: like Qwen 2, with combining marks as parts of words.
constexpr std::array<std::string_view, 1> qwen35 = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Seed-Coder: line ends do not belong to the punctuation before them.
constexpr std::array<std::string_view, 1> seed_coder = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Ling and LLaDA-MoE.
constexpr std::array<std::string_view, 1> bailing = {
    R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"};

// MiniCPM 5: numbers are split off first, in groups of three digits.
constexpr std::array<std::string_view, 2> minicpm5 = {
    R"(\p{N}{1,3})",
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+)"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// EXAONE's mixture of experts: words with single spaces between them stay together. Repetitions never need to
// backtrack, hence the possessive quantifiers.
constexpr std::array<std::string_view, 1> exaone_moe = {
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]))"
    R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};

// Mistral's Tekken. A word consists of capitals followed by small letters.
constexpr std::array<std::string_view, 1> tekken = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// The words of OpenAI's o200k_base (tiktoken): Tekken's followed by contractions; numbers by three digits.
constexpr std::string_view gpt4o_words =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::array<std::string_view, 1> gpt4o = {gpt4o_words};

// Cohere's Tiny Aya: like o200k_base, after numbers are grouped in threes from their end. Its tokenizer.json
// uses \d{1,3}(?=(?:\d{3})*\b), which is quadratic in their length. Here a number is split off first, then
// its leading one or two extra digits, then its groups of three.
constexpr std::array<std::string_view, 4> tiny_aya = {R"((?<!\d)\d++(?!\w))", R"(\A\d{1,2}(?=(?:\d{3})++\z))",
                                                      R"(\d{3})", gpt4o_words};

// Kimi K2 (tokenization_kimi.py): o200k_base's words without Chinese characters, which form their own words.
// Its classes are intersections with "no Han", written here as negated unions.
constexpr std::array<std::string_view, 1> kimi_k2 = {
    R"(\p{Han}+)"
    R"(|[^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]*)"
    R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]+)"
    R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Youtu-LLM: Korean, wide punctuation, Bopomofo, and Chinese with Japanese are split off first; then Tekken's
// words followed by contractions.
constexpr std::array<std::string_view, 2> youtu = {
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+)"
    R"(|[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-\x{303F})"
    R"(\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// BLOOM: a word has neither spaces nor these punctuation marks. In Viking, every digit is a word.
constexpr std::string_view bloom_words =
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)";
constexpr std::array<std::string_view, 1> bloom = {bloom_words};
constexpr std::array<std::string_view, 2> viking = {bloom_words, R"(\p{N})"};

// SuperBPE: only numbers are split off, in groups of three digits from their end.
constexpr std::array<std::string_view, 3> superbpe = {R"(\p{N}+)", R"(\A\d{1,2}(?=(?:\d{3})++\z))",
                                                      R"(\d{3})"};

// DeepSeek V3 (tokenizer.json: a Sequence of Splits).
constexpr std::array<std::string_view, 3> deepseek_v3 = {
    R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)re"
    R"re(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

// DeepSeek (tokenizer.json: a Sequence of Splits). Its class is "[一-龥ࠀ-一가-퟿]+"; GGUF's form
// excludes the spaces from U+1680 to U+3000.
constexpr std::string_view deepseek_cjk =
    R"([\x{800}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF})"
    R"(\x{3001}-\x{9FA5}\x{AC00}-\x{D7FF}]+)";
constexpr std::array<std::string_view, 5> deepseek_coder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                                            deepseek_cjk, R"(\p{N})"};

// Its letters are listed: those with case in an older version of Unicode. "\s+$" is written such that it
// fails immediately inside a run of spaces.
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
constexpr PretokenizerRule composed_qwen2_rule = {.regexes = qwen2, .composes = true};

constexpr Named rules[] = {
    {"gpt-2", {gpt2}},
    {"gpt-neox", {gpt2}},
    {"mpt", {gpt2}},
    {"olmo", {gpt2}},
    {"phi-2", {gpt2}},
    {"mellum", {gpt2}},
    {"a.x-4.0", {gpt2}},
    {"trillion", {gpt2}},
    {"jais", {gpt2}},
    {"gigachat", {gpt2}},
    {"exaone4", {gpt2}},
    {"granite-docling", {gpt2}},
    {"starcoder", {single_digits}},
    {"refact", {single_digits}},
    {"smollm", {single_digits}},
    {"command-r", {single_digits}},
    {"codeshell", {single_digits}},
    {"minerva-7b", {single_digits}},
    {"exaone", {single_digits}},
    {"mellum2", {single_digits}},
    {"falcon", {falcon}},
    {"default", {fallback}},
    {"llama-bpe", llama3_rule},
    {"llama-v3", llama3_rule},
    {"llama3", llama3_rule},
    {"falcon3", llama3_rule},
    {"falcon-h1", llama3_rule},
    {"pixtral", llama3_rule},
    {"midm-2.0", llama3_rule},
    {"lfm2", llama3_rule},
    {"smaug-bpe", {llama3}},
    {"dbrx", {llama3}},
    {"chatglm-bpe", {llama3}},
    {"glm4", {.regexes = llama3, .whole_words = true}},
    {"qwen2", composed_qwen2_rule},
    {"deepseek-r1-qwen", composed_qwen2_rule},
    {"megrez", {qwen2}},
    {"kormo", {qwen2}},
    {"stablelm2", {qwen2}},
    {"hunyuan", {qwen2}},
    {"solar-open", {qwen2}},
    {"grok-2", {qwen2}},
    {"qwen35", {qwen35}},
    {"seed-coder", {seed_coder}},
    {"bailingmoe", {bailing}},
    {"bailingmoe2", {bailing}},
    {"llada-moe", {bailing}},
    {"minicpm5", {.regexes = minicpm5, .whole_words = true}},
    {"exaone-moe", {exaone_moe}},
    {"tekken", {.regexes = tekken, .whole_words = true, .add_bos = true}},
    {"gpt-4o", {gpt4o}},
    {"llama4", {gpt4o}},
    {"kanana2", {gpt4o}},
    {"minimax-m2", {gpt4o}},
    {"tiny_aya", {tiny_aya}},
    {"cohere2moe", {tiny_aya}},
    {"kimi-k2", {kimi_k2}},
    {"youtu", {.regexes = youtu, .whole_words = true}},
    {"bloom", {bloom}},
    {"poro-chat", {bloom}},
    {"gpt3-finnish", {bloom}},
    {"viking", {viking}},
    {"superbpe", {superbpe}},
    {"deepseek-llm", {deepseek_llm}},
    {"deepseek-coder", {deepseek_coder}},
    {"deepseek-v3", {deepseek_v3}},
    {"hunyuan-dense", {deepseek_v3}},
    {"joyai-llm", {deepseek_v3}},
};

}  // namespace

const PretokenizerRule* find_pretokenizer_rule(std::string_view name) {
  for (const Named& named : rules) {
    if (named.name == name) return &named.rule;
  }
  return nullptr;
}

}  // namespace spectr
