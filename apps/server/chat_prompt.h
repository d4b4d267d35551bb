#pragma once

#include <string>
#include <vector>

#include "apps/json.h"
#include "spectr/text/jinja/template.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// The text that the model's chat template makes of a conversation. Throws ApiError: messages that are none,
/// a template that refuses them or cannot be run. A model without a template gets a plain one.
std::string chat_prompt(const JsonInput& messages, const JsonInput& values, const Vocabulary& vocabulary,
                        const Result<jinja::Template>& chat_template);

/// The tokens of that text: its special tokens are recognised, and it begins with one beginning-of-text token
/// even where the template writes it, too.
std::vector<Token> encode_chat(const std::string& text, const Tokenizer& tokenizer);

}  // namespace spectr::server
