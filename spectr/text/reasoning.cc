#include "spectr/text/reasoning.h"

#include <algorithm>

#include "spectr/text/reasoning/harmony_splitter.h"
#include "spectr/text/reasoning/splitting.h"
#include "spectr/text/reasoning/tagged_splitter.h"

namespace spectr {
namespace {

using Kind = ReasoningForm::Kind;

constexpr std::string_view cohere_response[] = {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>",
                                                "<|END_TEXT|>"};
constexpr std::string_view granite_response[] = {"<response>", "</response>"};
constexpr std::string_view gemma_channels[] = {"<|channel>", "<channel|>"};
constexpr std::string_view kimi_response[] = {"<|open|>response<|sep|>", "<|close|>response<|sep|>",
                                              "<|close|>message<|sep|>"};
constexpr std::string_view kimi_think = "open_tag('think')";  // the marks themselves are not in the template

struct Known {
  std::string_view mark;  // in the template
  ReasoningForm form;
};
constexpr Known forms[] = {
    {"<atem:function_calls>",  // Muse Glimmer
     {.kind = Kind::harmony,
      .open = "<|start|>assistant",
      .thought_header = " to=self<|message|>",
      .content_header = " to=user<|message|>",
      .thought_end = "<|eom|><|start|>assistant"}},
    {"<|start|>assistant",  // gpt-oss
     {.kind = Kind::harmony,
      .open = "<|start|>assistant",
      .thought_header = "<|channel|>analysis<|message|>",
      .content_header = "<|channel|>final<|message|>",
      .thought_end = "<|end|><|start|>assistant"}},
    {"<|channel>", {Kind::tagged, "<|channel>thought", "<channel|>", gemma_channels, true}},  // Gemma 4
    {"<|START_THINKING|>", {Kind::tagged, "<|START_THINKING|>", "<|END_THINKING|>", cohere_response}},
    {"[THINK]", {Kind::tagged, "[THINK]", "[/THINK]"}},                 // Magistral
    {"<seed:think>", {Kind::tagged, "<seed:think>", "</seed:think>"}},  // Seed-OSS
    {"<mm:think>", {Kind::tagged, "<mm:think>", "</mm:think>"}},        // MiniMax M3
    {kimi_think, {Kind::tagged, "<|open|>think<|sep|>", "<|close|>think<|sep|>", kimi_response}},  // Kimi K3
    {"[BEGIN FINAL RESPONSE]",  // Apriel 1.6
     {Kind::tagged, "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"}},
    {"<response>", {Kind::tagged, "<think>", "</think>", granite_response}},
    {"", {Kind::tagged, "<think>", "</think>"}},
};

}  // namespace

const ReasoningForm& reasoning_form(std::string_view chat_template) {
  const auto has_mark = [&](const Known& known) { return chat_template.contains(known.mark); };
  return std::ranges::find_if(forms, has_mark)->form;
}

bool mentions_reasoning(std::string_view chat_template) {
  return chat_template.contains(reasoning_form(chat_template).open) || chat_template.contains(kimi_think);
}

std::string_view content_mark(const ReasoningForm& form, std::string_view begun) {
  if (form.kind == Kind::harmony) return form.content_header;
  const bool is_open = begun.contains(form.open) && !begun.contains(form.close);
  return is_open ? form.close : std::string_view();
}

ReasoningMarks reasoning_marks(const ReasoningForm& form) {
  if (form.kind == Kind::harmony) return {form.thought_header, form.thought_end};
  return {form.open, form.close};
}

std::string begun_answer(const MarkedText& prompt, const ReasoningForm& form) {
  const auto pieces = prompt.pieces();
  const std::string_view quoted = !pieces.empty() && pieces.back().quoted ? pieces.back().bytes : "";
  const auto head = std::string_view(prompt.bytes()).substr(0, prompt.size() - quoted.size());
  std::string begun;
  if (const std::size_t open = head.rfind(form.open); open != std::string_view::npos) {
    const std::string_view behind = head.substr(open + form.open.size());
    if (form.kind == Kind::harmony) {
      begun = behind;
    } else if (leading_split_space(behind) == behind.size()) {
      begun = form.open;
    }
  }
  return begun.append(quoted);
}

void ReasoningSplitter::Parts::think(std::string_view text, bool kept) {
  std::string& part = kept ? content : reasoning;
  if (!text.empty()) thoughts.push_back({part.size(), text.size(), kept, false});
  part += text;
}

void ReasoningSplitter::Parts::close_thoughts(bool kept) {
  thoughts.push_back({(kept ? content : reasoning).size(), 0, kept, true});
}

std::unique_ptr<ReasoningSplitter> ReasoningSplitter::make(const ReasoningForm& form, std::string_view begun,
                                                           KeptMarks keeps) {
  std::unique_ptr<ReasoningSplitter> splitter;
  if (form.kind == Kind::harmony) {
    splitter = std::make_unique<HarmonySplitter>(keeps);
  } else {
    splitter = std::make_unique<TaggedSplitter>(form, keeps);
  }
  splitter->push(begun);
  return splitter;
}

}  // namespace spectr
