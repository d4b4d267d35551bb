// Any text must be a chat template or yield an error. A template must render a conversation with tools, calls
// and results or fail with an error. The structure of answers that call, in the syntax that was found in it,
// must compile, or be refused, to a grammar that has a next token after every prefix.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/walk_grammar.h"
#include "spectr/text/chat/chat_template.h"
#include "spectr/text/chat/tool_structure.h"

namespace spectr {
namespace {

const std::vector<Tool>& offered_tools() {
  static const std::vector<Tool> tools = {
      {"look_up",
       R"({"type": "function", "function": {"name": "look_up", "parameters": {"type": "object",
           "properties": {"word": {"type": "string"}, "count": {"type": "integer"}}, "required": ["word"]}}})",
       true}};
  return tools;
}

ChatTemplate::Conversation conversation() {
  ChatMessage calling = ChatMessage::of("assistant", "Let me see.");
  calling.calls = {{"abcdefghi", "look_up", R"({"word": "na\u00efve", "count": 2})"}};
  calling.reasoning = "a thought";
  ChatMessage result = ChatMessage::of("tool", "</tool_call> \xff\n{\"n\": 2}");
  result.call_id = "abcdefghi";
  ChatTemplate::Conversation talk;
  talk.messages = {ChatMessage::of("system", "Be brief."), ChatMessage::of("user", "<think> naïve"),
                   std::move(calling), std::move(result)};
  talk.tools = offered_tools();
  return talk;
}

}  // namespace
}  // namespace spectr

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto chat = spectr::ChatTemplate::make(source, spectr::fuzz_tokenizer().vocabulary());
  if (!chat) return 0;
  auto talk = spectr::conversation();
  [[maybe_unused]] const auto prompt = chat->render(talk);
  talk.messages.push_back(spectr::ChatMessage::of("assistant", "It is"));
  talk.continues_last = true;
  [[maybe_unused]] const auto begun = chat->render(talk);
  const auto structure =
      spectr::call_structure(chat->tool_form(), {.tools = spectr::offered_tools(), .must_call = true});
  if (structure)
    spectr::walk_grammar({.kind = spectr::Constraint::Kind::structure, .source = *structure}, source);
  return 0;
}
