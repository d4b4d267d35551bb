#include "tests/support/models/recurrent_course.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "spectr/backend/device/state_plan.h"
#include "spectr/base/check.h"
#include "tests/support/random_tensor.h"

namespace spectr::test {
namespace {

constexpr float epsilon = 1e-6f;

/// The outputs of the projections before the layers for a token.
struct Inputs {
  std::vector<float> x, alpha, beta, in;

  Inputs(const RecurrentShape& shape, Token token)
      : x(random_floats(shape.channels(), seed(token))),
        alpha(random_floats(shape.value_heads, seed(token) + 1)),
        beta(random_floats(shape.value_heads, seed(token) + 2)),
        in(random_floats(3 * shape.width, seed(token) + 3)) {
    for (float& number : alpha) number *= 3;
  }
  static std::uint32_t seed(Token token) { return 100 + 4 * static_cast<std::uint32_t>(token); }
};

struct Weights {
  std::vector<float> convolution, a, dt_bias, short_weight;

  explicit Weights(const RecurrentShape& shape)
      : convolution(random_floats(shape.channels() * shape.kernel, 1)),
        a(random_floats(shape.value_heads, 2)),
        dt_bias(random_floats(shape.value_heads, 3)),
        short_weight(random_floats(shape.width * shape.kernel, 4)) {
    for (float& number : a) number = -0.3f * std::abs(number);
  }
};

ModelSpec spec_of(const RecurrentShape& shape) {
  ModelSpec spec{};
  DeltaNetSpec delta{};
  delta.key_heads = shape.key_heads;
  delta.value_heads = shape.value_heads;
  delta.head_dim = shape.dim;
  delta.kernel = shape.kernel;
  ShortConvolutionSpec convolution{};
  convolution.kernel = shape.kernel;
  convolution.out.in = shape.width;
  LayerSpec attention{}, first{}, second{};
  first.mixer = delta;
  second.mixer = convolution;
  spec.layers = {attention, first, second};
  return spec;
}

double silu(double x) {
  return x / (1 + std::exp(-x));
}

/// Returns Σ_j w[c][j] input[t − kernel + 1 + j][c].
std::vector<double> convolved(std::span<const std::vector<double>> inputs, std::size_t t,
                              std::span<const float> weight, std::size_t kernel) {
  std::vector<double> sums(inputs[t].size());
  for (std::size_t j = 0; j < kernel; ++j) {
    if (t + j + 1 < kernel) continue;
    for (std::size_t c = 0; c < sums.size(); ++c)
      sums[c] += double{weight[c * kernel + j]} * inputs[t + j + 1 - kernel][c];
  }
  return sums;
}

void make_unit(std::span<double> x) {
  double squares = 0;
  for (const double number : x) squares += number * number;
  for (double& number : x) number /= std::max(std::sqrt(squares), double{epsilon});
}

}  // namespace

std::vector<double> defined(const RecurrentShape& shape, std::span<const Token> path) {
  const Weights weights(shape);
  const std::size_t dim = shape.dim;
  std::vector<std::vector<double>> inputs, short_inputs;
  std::vector<double> states(shape.inner() * dim), out(shape.inner());  // [head][key][value]
  for (std::size_t t = 0; t < path.size(); ++t) {
    const Inputs of(shape, path[t]);
    inputs.emplace_back(of.x.begin(), of.x.end());
    std::vector<double> x = convolved(inputs, t, weights.convolution, shape.kernel);
    for (double& number : x) number = silu(number);
    for (std::size_t h = 0; h < 2 * shape.key_heads; ++h) make_unit(std::span(x).subspan(h * dim, dim));
    for (std::size_t h = 0; h < shape.value_heads; ++h) {
      const double* const q = x.data() + h % shape.key_heads * dim;
      const double* const k = q + shape.key_heads * dim;
      const double* const v = x.data() + (2 * shape.key_heads + h) * dim;
      double* const s = states.data() + h * dim * dim;
      const double decay =
          std::exp(weights.a[h] * std::log1p(std::exp(double{of.alpha[h]} + double{weights.dt_bias[h]})));
      for (std::size_t i = 0; i < dim * dim; ++i) s[i] *= decay;
      for (std::size_t j = 0; j < dim; ++j) {
        double seen = 0, read = 0;
        for (std::size_t i = 0; i < dim; ++i) seen += s[i * dim + j] * k[i];
        const double added = (v[j] - seen) / (1 + std::exp(-double{of.beta[h]}));
        for (std::size_t i = 0; i < dim; ++i) {
          s[i * dim + j] += k[i] * added;
          read += s[i * dim + j] * q[i] / std::sqrt(static_cast<double>(dim));
        }
        out[h * dim + j] = read;
      }
    }
    std::vector<double>& kept = short_inputs.emplace_back(shape.width);
    for (std::size_t c = 0; c < kept.size(); ++c) kept[c] = double{of.in[c]} * of.in[2 * shape.width + c];
  }
  const Inputs last(shape, path.back());
  const std::vector<double> sums =
      convolved(short_inputs, path.size() - 1, weights.short_weight, shape.kernel);
  for (std::size_t c = 0; c < shape.width; ++c) out.push_back(double{last.in[shape.width + c]} * sums[c]);
  return out;
}

RecurrentLayersOn::RecurrentLayersOn(Device& device, const RecurrentShape& shape)
    : device_(device), shape_(shape), spec_(spec_of(shape)), memory_(spec_, device) {
  const Weights weights(shape);
  convolution_ = send(device, weights.convolution);
  a_ = send(device, weights.a);
  dt_bias_ = send(device, weights.dt_bias);
  short_weight_ = send(device, weights.short_weight);
}

std::vector<Token> RecurrentLayersOn::path_of(const PassBatch& batch, std::size_t row) const {
  std::vector<Token> path;
  for (std::size_t p = 0; p < batch.attended(row); ++p)
    path.push_back(tokens_.at(batch.caches[row]).at(batch.slot_at(row, p)));
  return path;
}

std::vector<call::AnyCall> RecurrentLayersOn::delta_net(const call::PlannedStates& plan) const {
  const call::States states = memory_.of(1);
  const call::Rows x = x_.rows(shape_.channels()), none;
  const std::size_t heads = shape_.value_heads;
  return {call::StoreInputs{states, plan, x, none}, call::Convolve{states, plan, convolution_.at(), none, x},
          call::PrepareHeads{states, plan, x, alpha_.rows(heads), a_.at(), dt_bias_.at(), shape_.key_heads,
                             heads, shape_.dim, epsilon, 1.0f / std::sqrt(static_cast<float>(shape_.dim))},
          call::MultiplyKeys{states, plan, x, shape_.key_heads, shape_.dim, products_.at()},
          call::Recur{states, plan, products_.at(), x, beta_.rows(heads), out_.rows(shape_.inner()),
                      shape_.key_heads, heads, shape_.dim}};
}

std::vector<call::AnyCall> RecurrentLayersOn::short_convolution(const call::PlannedStates& plan) const {
  const call::States states = memory_.of(2);
  const auto part = [&](std::size_t i) {
    return call::Rows{in_.at().behind(i * shape_.width * sizeof(float)), 3 * shape_.width};
  };
  return {call::StoreInputs{states, plan, part(0), part(2)},
          call::Convolve{states, plan, short_weight_.at(), part(1), convolved_.rows(shape_.width)}};
}

std::vector<RecurrentRow> RecurrentLayersOn::run(const PassBatch& batch) {
  std::vector<call::AnyCall> calls;
  Numbers moves, move_count;
  for (const SlotMove& move : batch.moves) {
    memory_.add(move);
    auto& of = tokens_[move.cache];
    of[static_cast<std::size_t>(move.to)] = of.at(static_cast<std::size_t>(move.from));
  }
  std::vector<float> x, alpha, beta, in;
  for (std::size_t r = 0; r < batch.rows(); ++r) {
    tokens_[batch.caches[r]][static_cast<std::size_t>(batch.slots[r])] = batch.tokens[r];
    const Inputs of(shape_, batch.tokens[r]);
    x.insert(x.end(), of.x.begin(), of.x.end());
    alpha.insert(alpha.end(), of.alpha.begin(), of.alpha.end());
    beta.insert(beta.end(), of.beta.begin(), of.beta.end());
    in.insert(in.end(), of.in.begin(), of.in.end());
  }
  StatePlan plan;
  plan_states(batch, memory_, plan);
  std::vector<StateStep> steps = plan.steps;
  steps.insert(steps.end(), 2, StateStep{.at = {}, .before = {}, .is_new = 0, .restores = 0, .tokens = {}});
  const Numbers rows_there = send(device_, plan.rows), steps_there = send(device_, steps),
                texts_there = send(device_, plan.texts);
  const call::PlannedStates planned{.rows = rows_there.at(),
                                    .steps = steps_there.at(),
                                    .texts = texts_there.at(),
                                    .row_count = batch.rows(),
                                    .step_count = steps.size(),
                                    .text_count = plan.texts.size()};
  x_ = send(device_, x);
  alpha_ = send(device_, alpha);
  beta_ = send(device_, beta);
  in_ = send(device_, in);
  products_ = zeros(device_, batch.rows() * shape_.key_heads * 2 * grid_tokens * sizeof(float));
  out_ = zeros(device_, batch.rows() * shape_.inner() * sizeof(float));
  convolved_ = zeros(device_, batch.rows() * shape_.width * sizeof(float));
  std::vector<int> said = {static_cast<int>(memory_.moves().size() / 2), 0, 0, 0};
  said.insert(said.end(), memory_.moves().begin(), memory_.moves().end());
  const Numbers moves_there = send(device_, said);
  call::Move move = memory_.move();
  move.count = moves_there.at();
  move.moves = moves_there.at().behind(16);
  calls.emplace_back(move);
  for (const call::AnyCall& one : delta_net(planned)) calls.push_back(one);
  for (const call::AnyCall& one : short_convolution(planned)) calls.push_back(one);
  value_of(device_.run(calls));
  memory_.forget_moves();
  const auto out = fetch<float>(device_, out_), more = fetch<float>(device_, convolved_);
  std::vector<RecurrentRow> rows;
  for (std::size_t r = 0; r < batch.rows(); ++r) {
    RecurrentRow& row = rows.emplace_back(RecurrentRow{path_of(batch, r), {}});
    const auto add = [&](const std::vector<float>& from, std::size_t cols) {
      const std::span<const float> of = std::span(from).subspan(r * cols, cols);
      row.out.insert(row.out.end(), of.begin(), of.end());
    };
    add(out, shape_.inner());
    add(more, shape_.width);
  }
  return rows;
}

void RecurrentLayersOn::copy(const CacheCopy& copy) {
  memory_.copy(copy);
  tokens_[copy.to] = tokens_.at(copy.from);
}

namespace {

constexpr NodeId nodes = 7;

/// A sequence and the input of its next pass.
struct Sequence {
  CacheId cache;
  KvSlots slots;
  std::vector<Token> text;

  Sequence(CacheId id, const FrameCounts& counts)
      : cache(id), slots(id, nodes, {.shortest_window = 0, .kept = 0, .frames = counts}) {}
};

}  // namespace

void recurrent_course(Device& device, const RecurrentShape& shape,
                      const std::function<void(const RecurrentRow&)>& each) {
  // Passes have few rows, so slots are reused soon.
  constexpr std::size_t context = 128, piece = 11;
  const std::size_t recent = StateFrames::recent_slots(piece + nodes, nodes);
  RecurrentLayersOn layers(device, shape);
  std::mt19937 random(1);
  const auto token = [&] { return static_cast<Token>(random() % 50); };
  const CacheSize size{.slots = context + nodes,
                       .kept = context + nodes,
                       .context = context,
                       .recent = recent,
                       .frames = StateFrames::max_frames};
  std::vector<Sequence> sequences;
  for (CacheId cache = 0; cache < 3; ++cache) {
    layers.memory().open(cache, size);
    sequences.emplace_back(cache, FrameCounts{context, recent});
  }
  const auto grow = [&](Sequence& of, std::size_t count) {
    while (count-- > 0) of.text.push_back(token());
  };
  const auto tree_of = [&](const Sequence& of, NodeId count) {
    TokenTree tree(of.text.back());
    while (tree.size() < count)
      tree.child(static_cast<NodeId>(random() % static_cast<unsigned>(tree.size())), token());
    return tree;
  };
  const auto pass = [&](std::span<Sequence* const> of, std::span<const TokenTree> trees) {
    PassBatch batch;
    for (std::size_t i = 0; i < of.size(); ++i)
      SPECTR_CHECK(of[i]->slots.plan(of[i]->text, trees[i], batch).complete);
    for (const RecurrentRow& row : layers.run(batch)) each(row);
  };
  Sequence &first = sequences[0], &second = sequences[1], &third = sequences[2];
  Sequence* const both[] = {&first, &second};
  grow(first, 3);
  grow(second, 8);
  for (int block = 0; block < 8; ++block) {
    const TokenTree trees[] = {tree_of(first, nodes), tree_of(second, block % 2 == 0 ? 1 : 4)};
    pass(both, trees);
    const auto path = trees[0].path(nodes - 1 - block % 3);
    first.slots.keep(path);
    for (const NodeId node : path) first.text.push_back(trees[0].token(node));
    grow(first, 1 + static_cast<std::size_t>(block));
    grow(second, block % 2 == 0 ? 1 : piece);
  }
  // Continues reading up to `length` tokens: those of `like`, as far as it has any, then random ones.
  const auto read_on = [&](Sequence& of, std::size_t length, const std::vector<Token>& like = {}) {
    while (of.text.size() < length) {
      for (std::size_t i = 0; i < piece && of.text.size() < length; ++i)
        of.text.push_back(of.text.size() < like.size() ? like[of.text.size()] : token());
      const TokenTree none[] = {TokenTree(of.text.back())};
      Sequence* const one[] = {&of};
      pass(one, none);
    }
  };
  read_on(first, 120);
  for (const std::size_t left : {118, 100, 70, 33}) {  // rewinds to kept states, some of them old
    const std::vector<Token> before = first.text;
    first.slots.rewind(left);
    first.text.resize(first.slots.length());
    read_on(first, left + 9, left % 4 == 0 ? std::vector<Token>() : before);
  }
  const KvSlots::Kept kept = first.slots.kept(first.slots.copyable(first.text.size()));
  third.slots.restore(kept);
  layers.copy({first.cache, third.cache, kept.length, StateFrames::used_frames(kept.frames)});
  third.text.assign(first.text.begin(),
                    first.text.begin() + static_cast<std::ptrdiff_t>(third.slots.length()));
  read_on(third, third.text.size() + 30);
  read_on(first, first.text.size() + 25, third.text);
}

}  // namespace spectr::test
