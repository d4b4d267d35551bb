// Any answer must be divided into reasoning, content and calls, in any pieces alike. A call names a tool of
// the request, and its arguments are a JSON object.
//
// The first byte selects the syntax of calls, the bits of the second byte select parallel calls, exact marks,
// the end of the answer and open reasoning, and the third byte is the size of the pieces. The rest is the
// answer.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/text/chat/answer_calls.h"
#include "spectr/text/chat/chat_template.h"
#include "tests/support/tiny_vocabularies.h"
#include "tests/text/tool_templates.h"

namespace spectr {
namespace {

struct Family {
  ToolForm form;
  const ReasoningForm* reasoning;
  KeptMarks keeps = {};
};

std::vector<Family> families() {
  namespace templates = tool_templates;
  std::vector<Family> all = {{generic_tool_form(), &reasoning_form("")},
                             {harmony_tool_form(), &reasoning_form("<|channel|>"), {.calls = true}}};
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  for (const char* source :
       {templates::hermes, templates::coder, templates::glm, templates::llama, templates::mistral,
        templates::ministral, templates::deepseek, templates::cohere, templates::minimax, templates::gemma,
        templates::lfm, templates::deepseek_tags, templates::kimi})
    all.push_back({ChatTemplate::make(source, vocabulary).value().tool_form(), &reasoning_form(source)});
  return all;
}

std::shared_ptr<const ToolSet> tools() {
  const std::vector<Tool> all = {
      {"get_weather",
       R"({"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
           "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}})"},
      {"run", R"({"type": "function", "function": {"name": "run"}})"}};
  return std::make_shared<const ToolSet>(all);
}

/// The parts of a complete answer.
struct Answer {
  std::string reasoning, content;
  std::vector<ToolCall> calls;
  bool operator==(const Answer&) const = default;

  void add(AnswerCalls::Parts parts) {
    reasoning += parts.reasoning;
    content += parts.content;
    for (ToolCall& call : parts.calls) calls.push_back(std::move(call));
  }
};

Answer read(std::string_view text, const Family& family, unsigned settings, std::size_t piece) {
  static const auto known = tools();
  const bool parallel = settings & 1, exact = settings & 2, ended = settings & 4, thinks = settings & 8;
  const auto splitter =
      ReasoningSplitter::make(*family.reasoning, thinks ? family.reasoning->open : "", family.keeps);
  AnswerCalls parser(family.form, known, parallel, exact);
  Answer answer;
  for (std::size_t at = 0; at < text.size(); at += piece)
    answer.add(parser.push(splitter->push(text.substr(at, piece))));
  answer.add(parser.push(splitter->finish()));
  answer.add(parser.finish(ended));
  for (const ToolCall& call : answer.calls) {
    const auto arguments = nlohmann::json::parse(call.arguments, nullptr, false);
    if (!known->has(call.name) || !arguments.is_object()) std::abort();
  }
  return answer;
}

}  // namespace
}  // namespace spectr

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto all = spectr::families();
  if (size < 3) return 0;
  const spectr::Family& family = all[data[0] % all.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t piece = 1 + data[2] % 64;
  if (spectr::read(text, family, data[1], size) != spectr::read(text, family, data[1], piece)) std::abort();
  return 0;
}
