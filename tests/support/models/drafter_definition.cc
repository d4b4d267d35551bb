#include "tests/support/models/drafter_definition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "spectr/nn/weights.h"

namespace spectr::test {
namespace {

using Vector = DrafterDefinition::Vector;

Vector numbers_of(const GgufTensor& tensor) {
  Vector all;
  std::vector<float> row(tensor.cols());
  for (std::size_t r = 0; r < tensor.rows(); ++r) {
    read_numbers(tensor, r, row);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

Vector row_of(const GgufTensor& tensor, Token token) {
  std::vector<float> row(tensor.cols());
  read_numbers(tensor, static_cast<std::size_t>(token), row);
  return {row.begin(), row.end()};
}

double dot(std::span<const double> x, std::span<const double> y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

Vector times(const Vector& matrix, std::span<const double> x) {
  Vector y;
  for (std::size_t at = 0; at < matrix.size(); at += x.size())
    y.push_back(dot(std::span(matrix).subspan(at, x.size()), x));
  return y;
}

void add(Vector& x, const Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

Vector scaled(Vector x, double factor) {
  for (double& number : x) number *= factor;
  return x;
}

Vector joined(Vector x, const Vector& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

}  // namespace

DrafterDefinition::DrafterDefinition(const Gguf& file, const Gguf& target)
    : file_(file), target_(target), prefix_(std::string(file.string("general.architecture").value()) + ".") {
  width_ = count("embedding_length", 0);
  heads_ = count("attention.head_count", 0);
  kv_heads_ = count("attention.head_count_kv", heads_);
  dim_ = count("attention.key_length", width_ / heads_);
  epsilon_ = real("attention.layer_norm_rms_epsilon", 0);
}

double DrafterDefinition::real(const std::string& name, double fallback) const {
  return file_.find(prefix_ + name) == nullptr ? fallback : file_.real(prefix_ + name).value();
}

std::size_t DrafterDefinition::count(const std::string& name, std::size_t fallback) const {
  return static_cast<std::size_t>(file_.integer(prefix_ + name, fallback).value());
}

bool DrafterDefinition::boolean(const std::string& name, bool fallback) const {
  return file_.boolean(prefix_ + name, fallback).value();
}

Vector DrafterDefinition::numbers(const std::string& tensor) const {
  return numbers_of(*file_.tensor(tensor));
}

Vector DrafterDefinition::row(const std::string& tensor, Token token) const {
  return row_of(*file_.tensor(tensor), token);
}

Vector DrafterDefinition::embedding(Token token) const {
  const Gguf& owner = has("token_embd.weight") ? file_ : target_;
  return scaled(row_of(*owner.tensor("token_embd.weight"), token), real("embedding_scale", 1));
}

Vector DrafterDefinition::product(const std::string& prefix, const Vector& x) const {
  const double scale = has(prefix + ".scale") ? numbers(prefix + ".scale").front() : 1.0;
  return scaled(times(numbers(prefix + ".weight"), x), scale);
}

Vector DrafterDefinition::rms(Vector x, const std::string& tensor, std::size_t head) const {
  const std::size_t size = head > 0 ? head : x.size();
  const Vector weight = tensor.empty() ? Vector(size, 1.0) : numbers(tensor);
  for (std::size_t at = 0; at < x.size(); at += size) {
    const std::span<double> part = std::span(x).subspan(at, size);
    const double root = std::sqrt(dot(part, part) / static_cast<double>(size) + epsilon_);
    for (std::size_t i = 0; i < size; ++i) part[i] *= weight[i] / root;
  }
  return x;
}

void DrafterDefinition::rotate(Vector& x, std::size_t position, bool neighbours) const {
  const std::size_t dims = count("rope.dimension_count", dim_), half = dims / 2;
  const Vector factors = has("rope_freqs.weight") ? numbers("rope_freqs.weight") : Vector(half, 1.0);
  for (std::size_t at = 0; at < x.size(); at += dim_) {
    for (std::size_t i = 0; i < half; ++i) {
      const double power = -2.0 * static_cast<double>(i) / static_cast<double>(dims);
      const double angle =
          static_cast<double>(position) * std::pow(real("rope.freq_base", 10000), power) / factors[i];
      double& a = x[at + (neighbours ? 2 * i : i)];
      double& b = x[at + (neighbours ? 2 * i + 1 : i + half)];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = a * std::sin(angle) + b * std::cos(angle);
      a = turned;
    }
  }
}

Vector DrafterDefinition::attend(const Vector& q, const Rows& keys, const Rows& values,
                                 const std::vector<std::size_t>& seen, const std::string& sinks) const {
  const double scale = real("attention.scale", 1 / std::sqrt(static_cast<double>(dim_)));
  Vector out;
  for (std::size_t h = 0; h < heads_; ++h) {
    const std::size_t at = h / (heads_ / kv_heads_) * dim_;
    Vector weights;
    for (const std::size_t i : seen) {
      weights.push_back(
          std::exp(scale * dot(std::span(q).subspan(h * dim_, dim_), std::span(keys[i]).subspan(at, dim_))));
    }
    double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (has(sinks)) sum += std::exp(numbers(sinks)[h]);
    for (std::size_t j = 0; j < dim_; ++j) {
      double value = 0.0;
      for (std::size_t i = 0; i < seen.size(); ++i) value += weights[i] / sum * values[seen[i]][at + j];
      out.push_back(value);
    }
  }
  return out;
}

Vector DrafterDefinition::feed_forward(const Vector& x, const std::string& block) const {
  Vector gate = product(block + "ffn_gate", x);
  const Vector up = product(block + "ffn_up", x);
  const bool is_silu = file_.string(prefix_ + "hidden_activation", "silu").value() == "silu";
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const double z = gate[i];
    const double root = std::sqrt(2 / std::numbers::pi);
    gate[i] = up[i] * (is_silu ? z / (1 + std::exp(-z))
                               : 0.5 * z * (1 + std::tanh(root * (z + 0.044715 * z * z * z))));
  }
  return product(block + "ffn_down", gate);
}

Vector DrafterDefinition::head(const Vector& state) const {
  const bool is_block = prefix_ == "dflash.";
  if (!has("output.weight")) {
    if (is_block && has("token_embd.weight")) return times(numbers("token_embd.weight"), state);
    const GgufTensor* own = target_.tensor("output.weight");
    return times(numbers_of(own != nullptr ? *own : *target_.tensor("token_embd.weight")), state);
  }
  return over_tokens(product("output", state));
}

Vector DrafterDefinition::over_tokens(const Vector& rows) const {
  const GgufTensor* map = file_.tensor("d2t");
  if (map == nullptr) return rows;
  Vector all(target_.tensor("token_embd.weight")->rows(), -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::int64_t token = 0;
    std::memcpy(&token, map->bytes.data() + i * sizeof token, sizeof token);
    all[static_cast<std::size_t>(token)] = rows[i];
  }
  return all;
}

std::vector<DrafterDefinition::Step> DrafterDefinition::steps(std::span<const Token> sequence,
                                                              const std::vector<Vector>& features,
                                                              std::span<const Token> path) const {
  return prefix_ == "eagle3." ? eagle3(sequence, features, path) : block(sequence, features, path);
}

std::vector<DrafterDefinition::Step> DrafterDefinition::eagle3(std::span<const Token> sequence,
                                                               const Rows& features,
                                                               std::span<const Token> path) const {
  const std::string block = "blk.0.";
  std::vector<Token> tokens(sequence.begin() + 1, sequence.end());
  tokens.insert(tokens.end(), path.begin(), path.end());
  Rows keys, values;
  std::vector<std::size_t> seen;
  std::vector<Step> found;
  Vector state;
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    if (r < features.size()) {
      const bool norms = boolean("norm_before_fc", false);
      state = product("fc", norms ? rms(features[r], "enc.output_norm.weight") : features[r]);
    }
    const Vector normed = rms(state, block + "attn_norm_2.weight");
    const Vector pair = joined(rms(embedding(tokens[r]), block + "attn_norm.weight"), normed);
    Vector q = product(block + "attn_q", pair), k = product(block + "attn_k", pair);
    rotate(q, r, true);
    rotate(k, r, true);
    keys.push_back(k);
    values.push_back(product(block + "attn_v", pair));
    seen.push_back(r);
    Vector y = boolean("norm_before_residual", false) ? normed : state;
    add(y, product(block + "attn_output", attend(q, keys, values, seen, "")));
    add(y, feed_forward(rms(y, block + "ffn_norm.weight"), block));
    if (r + 1 >= features.size()) found.push_back({head(rms(y, "output_norm.weight"))});
    state = y;
  }
  return found;
}

void DrafterDefinition::convolve(const std::string& prefix, std::size_t side, const Rows& inputs,
                                 Rows& rows) const {
  if (!has(prefix + "_base")) return;
  const std::size_t kernel = count("conv_kernel_size", 0), group = count("conv_group_size", 0);
  const Vector base = numbers(prefix + "_base");
  Rows out(rows.size(), Vector(width_));
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Vector factors = product(prefix + "_proj", inputs[t]);
    for (std::size_t c = 0; c < width_; ++c) {
      for (std::size_t lag = 0; lag < kernel && lag <= t; ++lag) {
        const std::size_t at = side * kernel + lag;
        out[t][c] += (base[at * width_ + c] + factors[at * (width_ / group) + c / group]) * rows[t - lag][c];
      }
    }
  }
  rows = std::move(out);
}

/// Returns the rows of the block after the last norm.
DrafterDefinition::Rows DrafterDefinition::block_states(std::span<const Token> sequence,
                                                        const Rows& features) const {
  const std::size_t length = features.size(), rows = count("block_size", 16);
  const auto mask = static_cast<Token>(file_.integer("tokenizer.ggml.mask_token_id").value());
  const std::size_t window = count("attention.sliding_window", 0);
  const auto* pattern = file_.find(prefix_ + "attention.sliding_window_pattern");
  Rows context, x;
  for (const Vector& states : features)
    context.push_back(rms(product("fc", states), "enc.output_norm.weight"));
  for (std::size_t i = 0; i < rows; ++i) x.push_back(embedding(i == 0 ? sequence.back() : mask));
  for (std::size_t layer = 0; layer < count("block_count", 0); ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    const bool slides = window > 0 && std::get<GgufArray>(*pattern).bytes[layer] != std::byte{0};
    Rows keys, values, normed, branch;
    const auto add_key = [&](const Vector& in, std::size_t position) {
      Vector k = product(block + "attn_k", in);
      values.push_back(has(block + "attn_v.weight") ? product(block + "attn_v", in) : rms(k, "", dim_));
      k = rms(k, block + "attn_k_norm.weight", dim_);
      rotate(k, position, false);
      keys.push_back(k);
    };
    for (std::size_t j = 0; j < length; ++j) add_key(context[j], j);
    for (const Vector& row : x) normed.push_back(rms(row, block + "attn_norm.weight"));
    Rows inputs = normed;
    convolve(block + "attn_conv", 0, inputs, normed);
    for (std::size_t i = 0; i < rows; ++i) add_key(normed[i], length + i);
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<std::size_t> seen;
      for (std::size_t j = 0; j < length + rows; ++j) {
        const bool is_hidden =
            (slides && length + i >= j + window) || (boolean("attention.causal", false) && j > length + i);
        if (!is_hidden) seen.push_back(j);
      }
      Vector q = rms(product(block + "attn_q", normed[i]), block + "attn_q_norm.weight", dim_);
      rotate(q, length + i, false);
      const Vector out = attend(q, keys, values, seen, block + "attn_sinks.weight");
      branch.push_back(scaled(product(block + "attn_output", out), real("attention.value_scale", 1)));
    }
    const auto add_branch = [&](const std::string& convolution, const std::string& post_norm) {
      convolve(block + convolution, 1, inputs, branch);
      for (std::size_t i = 0; i < rows; ++i)
        add(x[i], has(block + post_norm) ? rms(branch[i], block + post_norm) : branch[i]);
    };
    add_branch("attn_conv", "post_attention_norm.weight");
    for (std::size_t i = 0; i < rows; ++i) normed[i] = rms(x[i], block + "ffn_norm.weight");
    inputs = normed;
    convolve(block + "ffn_conv", 0, inputs, normed);
    for (std::size_t i = 0; i < rows; ++i) branch[i] = feed_forward(normed[i], block);
    add_branch("ffn_conv", "post_ffw_norm.weight");
    if (has(block + "layer_output_scale.weight"))
      for (Vector& row : x) row = scaled(row, numbers(block + "layer_output_scale.weight").front());
  }
  for (Vector& row : x) row = rms(row, "output_norm.weight");
  return x;
}

std::vector<DrafterDefinition::Step> DrafterDefinition::block(std::span<const Token> sequence,
                                                              const Rows& features,
                                                              std::span<const Token> path) const {
  const bool is_chain = has("markov_w1.weight"), selects = has("selector_hidden.weight");
  const Rows states = block_states(sequence, features);
  std::vector<Step> found;
  for (std::size_t i = boolean("sample_from_anchor", is_chain) ? 0 : 1; i < states.size(); ++i) {
    const std::size_t step = found.size();
    const Token before = step == 0 ? sequence.back() : path[step - 1];
    Vector logits = head(states[i]);
    Step& one = found.emplace_back();
    if (is_chain) {
      const Vector w1 = row("markov_w1.weight", before);
      add(logits, over_tokens(product("markov_w2", w1)));
      if (has("conf_proj.weight")) {
        const double shift = has("conf_proj.bias") ? numbers("conf_proj.bias").front() : 0.0;
        const double z = dot(numbers("conf_proj.weight"), joined(states[i], w1)) + shift;
        one.confidence = 1 / (1 + std::exp(-z));
      }
    }
    if (selects) {
      const double cap = real("final_logit_softcapping", 0);
      logits = scaled(logits, real("logit_scale", 1));
      for (double& logit : logits) logit = cap > 0 ? cap * std::tanh(logit / cap) : logit;
      Vector sorted = logits;
      std::ranges::sort(sorted, std::greater<>());
      const double least = sorted[count("selector_top_k", 1) - 1];
      Vector gate = times(numbers("selector_hidden.weight"), states[i]);
      const Vector predecessor = row("selector_predecessor.weight", before);
      for (std::size_t r = 0; r < gate.size(); ++r) gate[r] *= predecessor[r];
      for (std::size_t v = 0; v < logits.size(); ++v) {
        logits[v] = logits[v] < least
                        ? -std::numeric_limits<double>::infinity()
                        : logits[v] + dot(row("selector_successor.weight", static_cast<Token>(v)), gate);
      }
    }
    one.logits = std::move(logits);
  }
  return found;
}

}  // namespace spectr::test
