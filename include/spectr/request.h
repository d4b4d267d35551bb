// Requests for completions.
//
//     spectr::Request request;
//     request.prompt = "Once upon a time";
//     request.max_tokens = 100;
//     request.sampling.temperature = 0.7;
//     request.json_schema = R"({"type": "object"})";
//
// A request is a value, read by Engine::submit(), which checks it: a setting out of range is an error that
// names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "spectr/distribution.h"
#include "spectr/token.h"

namespace spectr {
inline namespace v0 {

/// A call of a tool by the model.
struct ToolCall {
  std::string id;         ///< identifies the call in the message with its result
  std::string name;       ///< name of the tool
  std::string arguments;  ///< a JSON object
};

/// A message of a conversation.
struct Message {
  std::string role;  ///< "system", "user", "assistant", or "tool" for the result of a call
  std::string content = {};
  std::vector<ToolCall> tool_calls = {};  ///< calls of an assistant
  std::string tool_call_id = {};          ///< id of the call that this is the result of
};

/// A prompt: text, in which special tokens are plain text; tokens; or a conversation, rendered by the model's
/// template. Text ends at its first zero byte.
using Prompt = std::variant<std::string, std::vector<Token>, std::vector<Message>>;

/// A request for one or several completions of a prompt.
struct Request {
  Prompt prompt = std::string();
  std::size_t n = 1;  ///< completions, at least 1; each has a stream of its own
  std::size_t max_tokens =
      0;  ///< maximum tokens of a completion; 0: until an end token or the end of the context
  std::uint64_t seed = 0;  ///< equal seeds give equal completions
  Sampling sampling = {};
  double repeat_penalty = 1.0;         ///< 1: off
  std::string method = {};             ///< empty: chosen as by the command line; see methods()
  std::string plan = {};               ///< empty: the method's default; see plans()
  std::size_t drafts = 0;              ///< K; 0: chosen automatically
  std::size_t length = 0;              ///< L; 0: chosen automatically
  std::vector<std::string> stop = {};  ///< a completion ends before any of these strings
  bool ignore_eos = false;
  /// JSON schema of the text, after any reasoning. With tools, the answer is calls or such JSON.
  std::string json_schema = {};
  std::string grammar =
      {};  ///< GBNF grammar that derives the text, after any reasoning, from its rule "root"
  /// Tools for the answer to a conversation: a JSON list of {"type": "function", "function": {"name",
  /// "description", "parameters", "strict"}}.
  std::string tools = {};
  /// "auto", "none", "required", or {"type": "function", "function": {"name"}}, which requires calls of this
  /// tool. Required calls have valid arguments.
  std::string tool_choice = {};
};

}  // namespace v0
}  // namespace spectr
