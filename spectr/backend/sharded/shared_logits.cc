#include "spectr/backend/sharded/shared_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "spectr/backend/sharded/leader_ops.h"

namespace spectr {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

template <class T>
T read_one(std::span<const std::byte> bytes) {
  T value{};
  MessageReader in(bytes);
  if (!in.get(value) || !in.is_at_end()) throw RankFailure("a rank's answer about logits has another size");
  return value;
}

template <class T>
std::vector<T> read_all(std::span<const std::byte> bytes) {
  std::vector<T> values;
  MessageReader in(bytes);
  if (!in.get_all(values) || !in.is_at_end())
    throw RankFailure("a rank's answer about logits has another size");
  return values;
}

bool is_undefined(const Candidate& one) {
  return std::isnan(one.logit) || one.logit == std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<std::byte> answer_of(const Question& question, const Logits& row, Range tokens) {
  MessageWriter out;
  const std::size_t size =
      question.size <= tokens.first ? 0 : std::min(tokens.size, question.size - tokens.first);
  const Logits part = row.first(size);
  switch (question.kind) {
    case Question::Kind::at: {
      const auto at = static_cast<std::size_t>(question.token);
      const bool is_mine = at >= tokens.first && at - tokens.first < tokens.size;
      out.put(is_mine ? row.at(static_cast<Token>(at - tokens.first)) : 0.0);
      break;
    }
    case Question::Kind::top: {
      std::vector<Candidate> best;
      if (size > 0) {
        for (const Candidate& one : part.top(question.k))
          best.push_back({one.logit, one.token + static_cast<Token>(tokens.first)});
      }
      out.put_all(std::span<const Candidate>(best));
      break;
    }
    case Question::Kind::log_sum_exp: {
      const bool has_some = size > 0 && !part.top(1).empty();
      out.put(has_some ? part.log_sum_exp(question.temperature) : nothing);
      break;
    }
    case Question::Kind::values:
      std::visit(
          [&out](auto numbers) {
            std::vector<float> values(numbers.begin(), numbers.end());
            out.put_all(std::span<const float>(values));
          },
          part.values());
      break;
  }
  return std::move(out.bytes());
}

void SharedLogits::take(HeldLogits mine, std::size_t rows) {
  local_logits_ = std::move(mine);
  rows_.assign(rows, {});
}

std::vector<std::vector<std::byte>> SharedLogits::ask(const Question& question) const {
  return leader_.ask(question, answer_of(question, local_logits_.row(question.row), tokens_of(who_.rank)));
}

double SharedLogits::at(std::size_t row, Token token) const {
  Question question{Question::Kind::at, place_, row, vocabulary_};
  question.token = token;
  const auto answers = ask(question);
  const auto index = static_cast<std::size_t>(token);
  std::size_t rank = 0;
  while (index >= tokens_of(rank).first + tokens_of(rank).size) ++rank;
  return read_one<double>(answers[rank]);
}

void SharedLogits::top(std::size_t row, std::size_t size, std::size_t k,
                       RecycledVector<Candidate>& out) const {
  Question question{Question::Kind::top, place_, row, size};
  question.k = k;
  out.clear();
  for (const std::vector<std::byte>& answer : ask(question)) {
    const std::vector<Candidate> best = read_all<Candidate>(answer);
    if (!best.empty() && is_undefined(best.front())) {
      out.assign(1, best.front());
      return;
    }
    out.insert(out.end(), best.begin(), best.end());
  }
  std::ranges::sort(out, before);
  out.resize(std::min(out.size(), k));
}

double SharedLogits::log_sum_exp(std::size_t row, std::size_t size, double temperature) const {
  Question question{Question::Kind::log_sum_exp, place_, row, size};
  question.temperature = temperature;
  std::vector<double> parts;
  for (const std::vector<std::byte>& answer : ask(question)) parts.push_back(read_one<double>(answer));
  const double most = std::ranges::max(parts);
  double sum = 0.0;
  for (const double part : parts) sum += std::exp(part - most);
  return most + std::log(sum);
}

std::span<const float> SharedLogits::values(std::size_t row) const {
  std::vector<float>& all = rows_[row];
  if (all.empty()) {
    std::vector<float> together;
    for (const std::vector<std::byte>& answer : ask({Question::Kind::values, place_, row, vocabulary_})) {
      const std::vector<float> part = read_all<float>(answer);
      together.insert(together.end(), part.begin(), part.end());
    }
    if (together.size() != vocabulary_) throw RankFailure("a rank's answer about logits has another size");
    all = std::move(together);
  }
  return all;
}

}  // namespace spectr
