// Determines by rendering which orders of messages a chat template refuses, and avoids them.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/text/chat/chat_template.h"
#include "spectr/text/chat/tool_form.h"

namespace spectr {
namespace {

/// Appends the content of a message to another as a paragraph of its own.
void append_content(ChatMessage& message, const ChatMessage& more) {
  if (message.parts.empty()) {
    message.parts.push_back(more.text());
  } else {
    message.parts.back() += "\n\n" + more.text();
  }
}

}  // namespace

/// Requires: the support for tools is known.
void ChatTemplate::probe_order() {
  const auto renders = [this](const std::vector<ChatMessage>& messages, std::string_view text = {}) {
    const auto rendered = run(messages, {}, true);
    return rendered && rendered->bytes().contains(text);
  };
  const ChatMessage system = ChatMessage::of("system", "zinc"), user = ChatMessage::of("user", "xylophone");
  if (!renders({user})) return;
  takes_system_ = renders({system, user});
  takes_late_system_ = renders({system, user, ChatMessage::of("system", "quartz")}, "quartz");
  takes_user_twice_ = renders({user, user});
  if (!tools_.prints_calls) return;
  ChatMessage answer = ChatMessage::of("assistant", "");
  answer.calls = {{std::string(ProbeCall::ids[0]), std::string(ProbeCall::name), ProbeCall::arguments()}};
  answer.reasoning = "quartz";
  const bool takes_thoughts = renders({user, answer});
  answer.parts = {"zinc"};
  takes_thoughts_text_ = !takes_thoughts || renders({user, answer});
}

/// Returns messages that the template renders. System messages after the first message become user messages
/// if the template refuses or drops them, except that those at the beginning are joined; so are consecutive
/// user messages. The text before calls becomes part of the thoughts if the template refuses both.
std::vector<ChatMessage> ChatTemplate::ordered(std::vector<ChatMessage> messages) const {
  std::vector<ChatMessage> all;
  for (ChatMessage& message : messages) {
    ChatMessage* const last = all.empty() ? nullptr : &all.back();
    bool joins = false;
    if (message.role == "system" && last != nullptr && !takes_late_system_)
      joins = all.size() == 1 && last->role == "system";
    if (message.role == "system" && !joins && !(last == nullptr ? takes_system_ : takes_late_system_)) {
      message.role = "user";
      joins = last != nullptr && last->role == "user";
    }
    if (message.role == "user" && last != nullptr && last->role == "user" && !takes_user_twice_) joins = true;
    if (joins) {
      append_content(*last, message);
      continue;
    }
    const bool is_refused = !takes_thoughts_text_ && !message.calls.empty() &&
                            !message.reasoning.value_or("").empty() && !message.text().empty();
    if (is_refused) {
      *message.reasoning += "\n\n" + message.text();
      message.parts = {""};
    }
    all.push_back(std::move(message));
  }
  return all;
}

}  // namespace spectr
