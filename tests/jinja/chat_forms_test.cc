#include "spectr/text/chat/chat_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "spectr/text/jinja/from_json.h"
#include "spectr/text/jinja/template.h"

namespace spectr {
namespace {

using testing::IsSupersetOf;

std::string rendered(std::string_view name, const nlohmann::json& messages) {
  const auto parsed = jinja::Template::parse(chat_form(name).value());
  if (!parsed) return parsed.error().message;
  const nlohmann::json variables = {{"messages", messages}, {"add_generation_prompt", true}};
  const auto text = parsed->render(*jinja::from_json(variables, true)->dict());
  return text ? text->bytes() : text.error().message;
}

/// Expected texts are the output of llama.cpp's own templates of these names.
TEST(ChatForms, SayWhatTheirNamesakesSay) {
  const nlohmann::json messages = {{{"role", "system"}, {"content", " s "}},
                                   {{"role", "user"}, {"content", " u "}},
                                   {{"role", "assistant"}, {"content", " a "}},
                                   {{"role", "user"}, {"content", "v"}}};
  const std::pair<const char*, const char*> goldens[] = {
      {"bailing",
       "<role>SYSTEM</role> s <role>HUMAN</role> u <role>ASSISTANT</role> a "
       "<role>HUMAN</role>v<role>ASSISTANT</role>"},
      {"bailing-think",
       "<role>SYSTEM</role> s <role>HUMAN</role> u <role>ASSISTANT</role> a "
       "<role>HUMAN</role>v<role>ASSISTANT</role><think>"},
      {"chatglm3", "[gMASK]sop<|system|>\n  s <|user|>\n  u <|assistant|>\n  a <|user|>\n v<|assistant|>"},
      {"chatglm4", "[gMASK]<sop><|system|>\n s <|user|>\n u <|assistant|>\n a <|user|>\nv<|assistant|>\n"},
      {"chatml",
       "<|im_start|>system\n s <|im_end|>\n<|im_start|>user\n u <|im_end|>\n<|im_start|>assistant\n a "
       "<|im_end|>\n<|im_start|>user\nv<|im_end|>\n<|im_start|>assistant\n"},
      {"command-r",
       "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>s<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>u<|"
       "END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>a<|END_OF_TURN_TOKEN|><|START_OF_TURN_"
       "TOKEN|><|USER_TOKEN|>v<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"},
      {"deepseek",
       " s ### Instruction:\n u \n### Response:\n a \n<|EOT|>\n### Instruction:\nv\n### Response:\n"},
      {"deepseek2", " s \n\nUser:  u \n\nAssistant:  a <｜end▁of▁sentence｜>User: v\n\nAssistant:"},
      {"deepseek3", " s \n\n<｜User｜> u <｜Assistant｜> a <｜end▁of▁sentence｜><｜User｜>v<｜Assistant｜>"},
      {"exaone-moe",
       "<|system|>\ns<|endofturn|>\n<|user|>\nu<|endofturn|>\n<|assistant|>\na<|endofturn|>\n<|user|>\nv<|"
       "endofturn|>\n<|assistant|>\n"},
      {"exaone3",
       "[|system|]s[|endofturn|]\n[|user|]u\n[|assistant|]a[|endofturn|]\n[|user|]v\n[|assistant|]"},
      {"exaone4",
       "[|system|]s[|endofturn|]\n[|user|]u\n[|assistant|]a[|endofturn|]\n[|user|]v\n[|assistant|]"},
      {"falcon3", "<|system|>\n s \n<|user|>\n u \n<|assistant|>\n a \n<|user|>\nv\n<|assistant|>\n"},
      {"gemma",
       "<start_of_turn>user\ns\n\nu<end_of_turn>\n<start_of_turn>model\na<end_of_turn>\n<start_of_turn>"
       "user\nv<end_of_turn>\n<start_of_turn>model\n"},
      {"gigachat",
       "<s> s <|message_sep|>user<|role_sep|> u <|message_sep|>available "
       "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|> a "
       "<|message_sep|>user<|role_sep|>v<|message_sep|>available "
       "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>"},
      {"glmedge", "<|system|>\n s <|user|>\n u <|assistant|>\n a <|user|>\nv<|assistant|>"},
      {"gpt-oss",
       "<|start|>system<|message|> s <|end|><|start|>user<|message|> u <|end|><|start|>assistant<|message|> "
       "a <|return|><|start|>user<|message|>v<|end|><|start|>assistant"},
      {"granite",
       "<|start_of_role|>system<|end_of_role|> s <|end_of_text|>\n<|start_of_role|>user<|end_of_role|> u "
       "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|> a "
       "<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>v<|end_of_text|>\n<|start_of_role|>assistant<|"
       "end_of_role|>"},
      {"granite-4.0",
       "<|start_of_role|>system<|end_of_role|> s <|end_of_text|>\n<|start_of_role|>user<|end_of_role|> u "
       "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|> a "
       "<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>v<|end_of_text|>\n<|start_of_role|>assistant<|"
       "end_of_role|>"},
      {"granite-4.1",
       "<|start_of_role|>system<|end_of_role|> s <|end_of_text|>\n<|start_of_role|>user<|end_of_role|> u "
       "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|> a "
       "<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>v<|end_of_text|>\n<|start_of_role|>assistant<|"
       "end_of_role|>"},
      {"grok-2",
       "System: s<|separator|>\n\nHuman: u<|separator|>\n\nAssistant:  a <|separator|>\n\nHuman: "
       "v<|separator|>\n\nAssistant:"},
      {"hunyuan-dense",
       " s <｜hy_place▁holder▁no▁3｜><｜hy_User｜> u <｜hy_Assistant｜><｜hy_Assistant｜> a "
       "<｜hy_place▁holder▁no▁2｜><｜hy_User｜>v<｜hy_Assistant｜>"},
      {"hunyuan-moe",
       "<|startoftext|> s <|extra_4|><|startoftext|> u <|extra_0|> a <|eos|><|startoftext|>v<|extra_0|>"},
      {"kimi-k2",
       "<|im_system|>system<|im_middle|> s <|im_end|><|im_user|>user<|im_middle|> u "
       "<|im_end|><|im_assistant|>assistant<|im_middle|> a "
       "<|im_end|><|im_user|>user<|im_middle|>v<|im_end|><|im_assistant|>assistant<|im_middle|>"},
      {"llama2", "[INST]  s \n u  [/INST] a </s>[INST] v [/INST]"},
      {"llama2-sys", "[INST] <<SYS>>\n s \n<</SYS>>\n\n u  [/INST] a </s>[INST] v [/INST]"},
      {"llama2-sys-bos", "[INST] <<SYS>>\n s \n<</SYS>>\n\n u  [/INST] a </s><s>[INST] v [/INST]"},
      {"llama2-sys-strip", "[INST] <<SYS>>\ns\n<</SYS>>\n\nu [/INST]a</s>[INST] v [/INST]"},
      {"llama3",
       "<|start_header_id|>system<|end_header_id|>\n\ns<|eot_id|><|start_header_id|>user<|end_header_id|>"
       "\n\nu<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\na<|eot_id|><|start_header_id|>user<|"
       "end_header_id|>\n\nv<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
      {"llama4",
       "<|header_start|>system<|header_end|>\n\ns<|eot|><|header_start|>user<|header_end|>\n\nu<|eot|><|"
       "header_start|>assistant<|header_end|>\n\na<|eot|><|header_start|>user<|header_end|>\n\nv<|eot|><|"
       "header_start|>assistant<|header_end|>\n\n"},
      {"megrez",
       "<|role_start|>system<|role_end|> s <|turn_end|><|role_start|>user<|role_end|> u "
       "<|turn_end|><|role_start|>assistant<|role_end|> a "
       "<|turn_end|><|role_start|>user<|role_end|>v<|turn_end|><|role_start|>assistant<|role_end|>"},
      {"minicpm", "s<用户>u<AI>a<用户>v<AI>"},
      {"mistral-v1", " [INST]  s \n\n u  [/INST]  a </s> [INST] v [/INST]"},
      {"mistral-v3", "[INST]  s \n\n u [/INST] a</s>[INST] v[/INST]"},
      {"mistral-v3-tekken", "[INST] s \n\n u [/INST] a </s>[INST]v[/INST]"},
      {"mistral-v7", "[SYSTEM_PROMPT]  s [/SYSTEM_PROMPT][INST]  u [/INST]  a </s>[INST] v[/INST]"},
      {"mistral-v7-tekken", "[SYSTEM_PROMPT] s [/SYSTEM_PROMPT][INST] u [/INST] a </s>[INST]v[/INST]"},
      {"openchat",
       " s <|end_of_turn|>GPT4 Correct User:  u <|end_of_turn|>GPT4 Correct Assistant:  a "
       "<|end_of_turn|>GPT4 Correct User: v<|end_of_turn|>GPT4 Correct Assistant:"},
      {"orion", "Human:  s \n\n u \n\nAssistant: </s> a </s>Human: v\n\nAssistant: </s>"},
      {"phi3",
       "<|system|>\n s <|end|>\n<|user|>\n u <|end|>\n<|assistant|>\n a "
       "<|end|>\n<|user|>\nv<|end|>\n<|assistant|>\n"},
      {"phi4",
       "<|im_start|>system<|im_sep|> s <|im_end|><|im_start|>user<|im_sep|> u "
       "<|im_end|><|im_start|>assistant<|im_sep|> a "
       "<|im_end|><|im_start|>user<|im_sep|>v<|im_end|><|im_start|>assistant<|im_sep|>"},
      {"rwkv-world", "System: s\n\nUser: u\n\nAssistant: a\n\nUser: v\n\nAssistant:"},
      {"seed_oss",
       "<seed:bos>system\n s <seed:eos><seed:bos>user\n u "
       "<seed:eos><seed:bos>assistant\na<seed:eos><seed:bos>user\nv<seed:eos><seed:bos>assistant\n"},
      {"smolvlm",
       "<|im_start|> s \n\nUser:  u <end_of_utterance>\nAssistant:  a <end_of_utterance>\nUser: "
       "v<end_of_utterance>\nAssistant:"},
      {"solar-open",
       "<|begin|>system<|content|> s <|end|><|begin|>user<|content|> u <|end|><|begin|>assistant<|content|> "
       "a <|end|><|begin|>user<|content|>v<|end|><|begin|>assistant"},
      {"vicuna", " s \n\nUSER:  u \nASSISTANT:  a </s>\nUSER: v\nASSISTANT:"},
      {"vicuna-orca", "SYSTEM:  s \nUSER:  u \nASSISTANT:  a </s>\nUSER: v\nASSISTANT:"},
      {"zephyr",
       "<|system|>\n s <|endoftext|>\n<|user|>\n u <|endoftext|>\n<|assistant|>\n a "
       "<|endoftext|>\n<|user|>\nv<|endoftext|>\n<|assistant|>\n"},
      {"bailing2",
       "<role>SYSTEM</role> s <|role_end|><role>HUMAN</role> u <|role_end|><role>ASSISTANT</role> a "
       "<|role_end|><role>HUMAN</role>v<|role_end|><role>ASSISTANT</role>"},
      {"deepseek-ocr", " s  u  a v"},
      {"hunyuan-vl",
       "<｜hy_begin▁of▁sentence｜> s <｜hy_place▁holder▁no▁3｜> u <｜hy_User｜> a "
       "<｜hy_Assistant｜>v<｜hy_User｜>"},
      {"monarch", "system\n s </s>\n<s>user\n u </s>\n<s>assistant\n a </s>\n<s>user\nv</s>\n<s>assistant\n"},
      {"pangu-embedded",
       "[unused9]系统： s [unused10][unused9]用户： u [unused10][unused9]助手： a "
       "[unused10][unused9]用户：v[unused10][unused9]助手："},
      {"yandex", " Пользователь:  u \n\n Ассистент:  a \n\n Пользователь: v\n\n Ассистент:[SEP]"},
  };
  for (const auto& [name, expected] : goldens) EXPECT_EQ(rendered(name, messages), expected) << name;
  EXPECT_EQ(chat_form_names().size(), std::size(goldens));
}

TEST(ChatForms, NeedNoSystemMessage) {
  const nlohmann::json messages = {{{"role", "user"}, {"content", "Hi"}}};
  EXPECT_EQ(rendered("gemma", messages), "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(rendered("llama2-sys", messages), "[INST] Hi [/INST]");
  EXPECT_EQ(rendered("mistral-v1", messages), " [INST] Hi [/INST]");
  EXPECT_EQ(rendered("smolvlm", messages), "<|im_start|>User: Hi<end_of_utterance>\nAssistant:");
}

/// Expected texts for unusual message orders are the output of llama.cpp's own templates.
TEST(ChatForms, TakeMessagesInAnyOrder) {
  const auto said = [](const char* role, const char* text) {
    return nlohmann::json{{"role", role}, {"content", text}};
  };
  const nlohmann::json conversations[] = {
      nlohmann::json::array({said("system", "s"), said("system", "t"), said("user", "u")}),
      nlohmann::json::array({said("user", "u"), said("system", "s")}),
      nlohmann::json::array({said("user", "u"), said("user", "v")}),
      nlohmann::json::array({said("assistant", "a"), said("user", "u")}),
      nlohmann::json::array({said("user", "u")})};
  const std::pair<const char*, std::array<const char*, std::size(conversations)>> goldens[] = {
      {"gemma",
       {"<start_of_turn>user\nst\n\nu<end_of_turn>\n<start_of_turn>model\n",
        "<start_of_turn>user\nu<end_of_turn>\n<start_of_turn>model\n",
        "<start_of_turn>user\nu<end_of_turn>\n<start_of_turn>user\nv<end_of_turn>\n<start_of_turn>model\n",
        "<start_of_turn>model\na<end_of_turn>\n<start_of_turn>user\nu<end_of_turn>\n<start_of_turn>model\n",
        "<start_of_turn>user\nu<end_of_turn>\n<start_of_turn>model\n"}},
      {"orion",
       {"Human: st\n\nu\n\nAssistant: </s>", "Human: u\n\nAssistant: </s>",
        "Human: u\n\nAssistant: </s>Human: v\n\nAssistant: </s>", "a</s>Human: u\n\nAssistant: </s>",
        "Human: u\n\nAssistant: </s>"}},
      {"llama2",
       {"[INST] s\nt\nu [/INST]", "[INST] u [/INST]s\n", "[INST] u [/INST]v [/INST]",
        "[INST] a</s>[INST] u [/INST]", "[INST] u [/INST]"}},
      {"llama2-sys-bos",
       {"[INST] <<SYS>>\ns\n<</SYS>>\n\n<<SYS>>\nt\n<</SYS>>\n\nu [/INST]",
        "[INST] u [/INST]<<SYS>>\ns\n<</SYS>>\n\n", "[INST] u [/INST]v [/INST]",
        "[INST] a</s><s>[INST] u [/INST]", "[INST] u [/INST]"}},
      {"mistral-v1",
       {" [INST] s\n\nt\n\nu [/INST]", " [INST] u [/INST]s\n\n", " [INST] u [/INST]v [/INST]",
        " [INST]  a</s> [INST] u [/INST]", " [INST] u [/INST]"}},
      {"mistral-v3-tekken",
       {"[INST]s\n\nt\n\nu[/INST]", "[INST]u[/INST]s\n\n", "[INST]u[/INST]v[/INST]",
        "[INST]a</s>[INST]u[/INST]", "[INST]u[/INST]"}},
      {"gigachat",
       {"<s>s<|message_sep|>user<|role_sep|>u<|message_sep|>available "
        "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>",
        "<s>user<|role_sep|>u<|message_sep|>available "
        "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>",
        "<s>user<|role_sep|>u<|message_sep|>available "
        "functions<|role_sep|>[]<|message_sep|>user<|role_sep|>v<|message_sep|>available "
        "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>",
        "<s>assistant<|role_sep|>a<|message_sep|>user<|role_sep|>u<|message_sep|>available "
        "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>",
        "<s>user<|role_sep|>u<|message_sep|>available "
        "functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>"}},
      {"hunyuan-dense",
       {"s<｜hy_place▁holder▁no▁3｜><｜hy_User｜>u<｜hy_Assistant｜>", "<｜hy_User｜>u<｜hy_Assistant｜>",
        "<｜hy_User｜>u<｜hy_Assistant｜><｜hy_User｜>v<｜hy_Assistant｜>",
        "<｜hy_Assistant｜>a<｜hy_place▁holder▁no▁2｜><｜hy_User｜>u<｜hy_Assistant｜>",
        "<｜hy_User｜>u<｜hy_Assistant｜>"}},
      {"bailing2",
       {"<role>SYSTEM</role>s<|role_end|><role>SYSTEM</role>t<|role_end|><role>HUMAN</"
        "role>u<|role_end|><role>ASSISTANT</role>",
        "<role>SYSTEM</role>detailed thinking "
        "off<|role_end|><role>HUMAN</role>u<|role_end|><role>SYSTEM</role>s<|role_end|><role>ASSISTANT</"
        "role>",
        "<role>SYSTEM</role>detailed thinking "
        "off<|role_end|><role>HUMAN</role>u<|role_end|><role>HUMAN</role>v<|role_end|><role>ASSISTANT</role>",
        "<role>SYSTEM</role>detailed thinking "
        "off<|role_end|><role>ASSISTANT</role>a<|role_end|><role>HUMAN</role>u<|role_end|><role>ASSISTANT</"
        "role>",
        "<role>SYSTEM</role>detailed thinking "
        "off<|role_end|><role>HUMAN</role>u<|role_end|><role>ASSISTANT</role>"}},
      {"pangu-embedded",
       {"[unused9]系统：s[unused10][unused9]系统：t[unused10][unused9]用户：u[unused10][unused9]助手：",
        "[unused9]系统：[unused10][unused9]用户：u[unused10][unused9]系统：s[unused10][unused9]助手：",
        "[unused9]系统：[unused10][unused9]用户：u[unused10][unused9]用户：v[unused10][unused9]助手：",
        "[unused9]系统：[unused10][unused9]助手：a[unused10][unused9]用户：u[unused10][unused9]助手：",
        "[unused9]系统：[unused10][unused9]用户：u[unused10][unused9]助手："}},
      {"rwkv-world",
       {"System: s\n\nSystem: t\n\nUser: u\n\nAssistant:", "User: u\n\nSystem: s\n\n",
        "User: u\n\nUser: v\n\nAssistant:", "Assistant: a\n\nUser: u\n\nAssistant:",
        "User: u\n\nAssistant:"}},
      {"monarch",
       {"system\ns</s>\n<s>system\nt</s>\n<s>user\nu</s>\n<s>assistant\n",
        "user\nu</s>\n<s>system\ns</s>\n<s>assistant\n", "user\nu</s>\n<s>user\nv</s>\n<s>assistant\n",
        "assistant\na</s>\n<s>user\nu</s>\n<s>assistant\n", "user\nu</s>\n<s>assistant\n"}},
      {"chatml",
       {"<|im_start|>system\ns<|im_end|>\n<|im_start|>system\nt<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|"
        "im_start|>assistant\n",
        "<|im_start|>user\nu<|im_end|>\n<|im_start|>system\ns<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>user\nu<|im_end|>\n<|im_start|>user\nv<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n"}}};
  for (const auto& [name, expected] : goldens) {
    for (std::size_t i = 0; i < std::size(conversations); ++i)
      EXPECT_EQ(rendered(name, conversations[i]), expected[i]) << name << " " << i;
  }
}

TEST(ChatForms, AreNamedAsInLlamaCpp) {
  EXPECT_THAT(chat_form_names(),
              IsSupersetOf({"chatml", "llama2", "llama3", "mistral-v1", "mistral-v3", "mistral-v7", "phi3",
                            "phi4", "gemma", "deepseek2", "deepseek3", "command-r", "vicuna", "zephyr",
                            "granite", "falcon3", "exaone3", "gpt-oss", "smolvlm"}));
  EXPECT_TRUE(std::ranges::is_sorted(chat_form_names()));
  EXPECT_FALSE(chat_form("chatlm"));
}

}  // namespace
}  // namespace spectr
