#include "tests/support/models/tiny_tensors.h"

#include <fmt/format.h>

namespace spectr {
namespace {

std::vector<WrittenTensor> tiny_encoder(const std::string& architecture, const TinyShape& s) {
  const std::size_t all_heads = s.heads * s.head_dim;
  std::vector<WrittenTensor> all = {{.name = "token_embd.weight", .shape = {s.width, s.vocabulary}}};
  const auto add = [&all](const std::string& name, std::uint64_t in, std::uint64_t out, bool bias) {
    all.push_back({.name = name + ".weight", .shape = {in, out}});
    if (bias) all.push_back({.name = name + ".bias", .shape = {out}});
  };
  const auto add_norm = [&](const std::string& name) {
    for (const char* part : {".weight", ".bias"}) all.push_back({.name = name + part, .shape = {s.width}});
  };
  add_norm("token_embd_norm");
  const bool learned = architecture == "bert";
  if (learned) add("position_embd", s.width, s.context, false);
  for (std::size_t i = 0; i < s.layers; ++i) {
    const std::string block = fmt::format("blk.{}.", i);
    for (const char* part : {"attn_q", "attn_k", "attn_v"}) add(block + part, s.width, all_heads, false);
    add(block + "attn_output", all_heads, s.width, false);
    if (!learned) add(block + "ffn_gate", s.width, s.ffn, false);
    add(block + "ffn_up", s.width, s.ffn, learned);
    add(block + "ffn_down", s.ffn, s.width, learned);
    add_norm(block + "attn_output_norm");
    add_norm(block + "layer_output_norm");
  }
  return all;
}

}  // namespace

std::vector<WrittenTensor> tiny_tensors(const std::string& architecture, const TinyShape& s) {
  if (architecture.ends_with("bert")) return tiny_encoder(architecture, s);
  const std::size_t q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
  const std::string output_norm = architecture == "lfm2" ? "token_embd_norm.weight" : "output_norm.weight";
  std::vector<WrittenTensor> all = {{.name = "token_embd.weight", .shape = {s.width, s.vocabulary}},
                                    {.name = output_norm, .shape = {s.width}}};
  const bool centred = architecture.starts_with("gpt");
  for (std::size_t i = 0; i < s.layers; ++i) {
    const auto add = [&](std::string_view part, const std::vector<std::uint64_t>& shape) {
      all.push_back({.name = fmt::format("blk.{}.{}", i, part), .shape = shape});
    };
    const bool around = architecture.starts_with("gemma"), behind = around || architecture == "olmo2";
    for (const char* norm : {"attn_norm.weight", "ffn_norm.weight"}) {
      if (around || !behind) add(norm, {s.width});
    }
    for (const char* norm : {"post_attention_norm.weight", "post_ffw_norm.weight"}) {
      if (behind) add(norm, {s.width});
    }
    add("attn_output.weight", {q, s.width});
    const bool has_experts = architecture == "qwen3moe";
    if (has_experts) {
      add("ffn_gate_inp.weight", {s.width, s.experts});
      add("ffn_gate_exps.weight", {s.width, s.ffn, s.experts});
      add("ffn_up_exps.weight", {s.width, s.ffn, s.experts});
      add("ffn_down_exps.weight", {s.ffn, s.width, s.experts});
    } else {
      add("ffn_up.weight", {s.width, s.ffn});
      add("ffn_down.weight", {s.ffn, s.width});
    }
    if (centred) {
      add("attn_qkv.weight", {s.width, q + 2 * kv});
      add("attn_qkv.bias", {q + 2 * kv});
      add("attn_output.bias", {s.width});
      add("ffn_up.bias", {s.ffn});
      add("ffn_down.bias", {s.width});
      add("attn_norm.bias", {s.width});
      add("ffn_norm.bias", {s.width});
    } else if (architecture == "deepseek2") {  // with the sizes that tiny_model() sets
      add("attn_q.weight", {s.width, 10});
      add("attn_kv_a_mqa.weight", {s.width, 6});
      add("attn_kv_a_norm.weight", {4});
      add("attn_k_b.weight", {3, 4, s.heads});
      add("attn_v_b.weight", {4, 4, s.heads});
      add("ffn_gate.weight", {s.width, s.ffn});
    } else {
      add("attn_q.weight", {s.width, q});
      add("attn_k.weight", {s.width, kv});
      add("attn_v.weight", {s.width, kv});
      if (!has_experts) add("ffn_gate.weight", {s.width, s.ffn});
    }
    if (architecture == "qwen2") {
      add("attn_q.bias", {q});
      add("attn_k.bias", {kv});
      add("attn_v.bias", {kv});
    }
    if (architecture.starts_with("qwen3") || architecture == "gemma3" || architecture == "lfm2") {
      add("attn_q_norm.weight", {s.head_dim});
      add("attn_k_norm.weight", {s.head_dim});
    }
    if (architecture == "olmo2") {
      add("attn_q_norm.weight", {q});
      add("attn_k_norm.weight", {kv});
    }
  }
  if (centred) all.push_back({.name = "output_norm.bias", .shape = {s.width}});
  if (architecture == "gpt2") all.push_back({.name = "position_embd.weight", .shape = {s.width, s.context}});
  if (architecture == "gptneox") all.push_back({.name = "output.weight", .shape = {s.width, s.vocabulary}});
  return all;
}

GgufWriter with_tensors(GgufWriter file, const std::vector<WrittenTensor>& tensors) {
  file.without_tensors();
  for (const WrittenTensor& tensor : tensors) file.tensor(tensor);
  return file;
}

}  // namespace spectr
