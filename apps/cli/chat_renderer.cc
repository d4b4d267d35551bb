#include "apps/cli/chat_renderer.h"

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/failure.h"
#include "apps/json_input.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"

namespace spectr::cli {

bench::ChatRenderer chat_renderer(const LoadedModel& target) {
  const Gguf& file = target.transformer->file();
  const auto source = file.find("tokenizer.chat_template");
  if (source == nullptr)
    throw Failure(Status::usage, fmt::format("--chat: {} has no chat template", file.name()));
  const auto chat_template = std::make_shared<const Result<server::ChatTemplate>>(server::ChatTemplate::make(
      std::string(need(file.string("tokenizer.chat_template"))), target.tokenizer->vocabulary()));
  return [&tokenizer = *target.tokenizer,
          chat_template](std::span<const std::string> said) -> Result<std::vector<Token>> {
    JsonInput messages = JsonInput::array();
    for (std::size_t i = 0; i < said.size(); ++i)
      messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", said[i]}});
    try {
      return server::encode_chat(server::chat_prompt({messages, {}, {}, {}}, *chat_template), tokenizer);
    } catch (const server::ApiError& refused) {
      return error("{}", refused.what());
    }
  };
}

}  // namespace spectr::cli
