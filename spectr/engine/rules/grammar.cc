#include "spectr/engine/rules/grammar.h"

#include <dlpack/dlpack.h>
#include <xgrammar/xgrammar.h>
#include <xgrammar_limit.h>
#include <xgrammar_log.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "spectr/engine/rules/answer_structure.h"
#include "spectr/engine/rules/json_schema.h"

namespace spectr {

struct Grammar {
  xgrammar::CompiledGrammar compiled;
};

namespace {

using namespace std::chrono_literals;

constexpr auto compile_time = 500ms;      // of the processor, for one source
constexpr auto mask_time = 1000ms;        // of the processor, for one mask
constexpr auto deadline = 10s;            // wall time, on a busy processor
constexpr std::size_t max_abandoned = 2;  // compilations that go on after their deadline
constexpr std::int64_t cache_bytes = std::int64_t{256} << 20;
constexpr int max_blanks = 1;  // between two tokens of JSON

xgrammar::TokenizerInfo tokenizer_info(const Tokenizer& tokenizer, std::size_t vocabulary) {
  const Vocabulary& all = tokenizer.vocabulary();
  std::vector<std::string> pieces;
  for (std::size_t token = 0; token < all.size(); ++token)
    pieces.push_back(tokenizer.piece(static_cast<Token>(token)));
  const std::vector<std::int32_t> ends(all.ends().begin(), all.ends().end());
  return {pieces, xgrammar::VocabType::RAW, static_cast<int>(vocabulary), ends};
}

/// Returns the first line of the library's message, without the position in its sources.
std::string shown_reason(std::string_view message) {
  constexpr std::size_t max_shown = 300;
  message = message.substr(0, message.find('\n'));
  return std::string(message.substr(0, max_shown));
}

class Compiler final : public GrammarCompiler {
 public:
  Compiler(const Tokenizer& tokenizer, std::size_t vocabulary)
      : compiler_(tokenizer_info(tokenizer, vocabulary), 1, true, cache_bytes, true) {}

  Result<std::shared_ptr<const Grammar>> compile(const Constraint& constraint) override {
    if (constraint.kind == Constraint::Kind::structure) {
      SPECTR_TRY_VOID(check_structure(constraint.source, constraint.field, max_bytes));
    } else if (constraint.source.size() > max_bytes) {
      return error("'{}' may have {} bytes, got {}", constraint.field, max_bytes, constraint.source.size());
    }
    Constraint exact = constraint;
    if (constraint.kind == Constraint::Kind::json_schema) {
      SPECTR_TRY(exact.source, exact_json_schema(constraint.source, constraint.field));
    }
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(abandoned_,
                    [](const auto& one) { return one.wait_for(0s) == std::future_status::ready; });
      if (abandoned_.size() >= max_abandoned)
        return error(ErrorCode::timeout, "'{}': other grammars are still being compiled", constraint.field);
    }
    auto compiled = std::async(std::launch::async, [this, exact] { return compile_now(exact); });
    if (compiled.wait_for(deadline) == std::future_status::ready) return compiled.get();
    const std::lock_guard lock(mutex_);
    abandoned_.push_back(std::move(compiled));
    return error(ErrorCode::timeout, "'{}' takes longer than {} s to compile", constraint.field,
                 deadline.count());
  }

 private:
  using Compiled = Result<std::shared_ptr<const Grammar>>;

  Compiled compile_now(const Constraint& constraint) {
    try {
      const xgrammar_log::Warnings warnings;
      const xgrammar_limit::TimeLimit limit(compile_time);
      auto grammar = std::make_shared<const Grammar>(Grammar{compiled(constraint)});
      if (const std::string& first = warnings.first(); !first.empty())
        return error("'{}': {}", constraint.field, shown_reason(first));
      return grammar;
    } catch (const xgrammar_limit::LimitExceeded&) {
      return error("'{}' takes longer than {} ms to compile: make it smaller", constraint.field,
                   compile_time.count());
    } catch (const StructureError& failure) {
      return error("{}", shown_reason(failure.what()));
    } catch (const std::exception& failure) {
      return error("'{}': {}", constraint.field, shown_reason(failure.what()));
    }
  }

  xgrammar::CompiledGrammar compiled(const Constraint& constraint) {
    switch (constraint.kind) {
      case Constraint::Kind::json_schema:
        return compiler_.CompileJSONSchema(constraint.source, true, std::nullopt, std::nullopt, false,
                                           max_blanks);
      case Constraint::Kind::grammar:
        return compiler_.CompileGrammar(constraint.source);
      case Constraint::Kind::structure:
        return compiler_.CompileStructuralTag(structural_tag(constraint.source, max_blanks));
      case Constraint::Kind::regex:
        break;
    }
    return compiler_.CompileRegex(constraint.source);
  }

  xgrammar::GrammarCompiler compiler_;
  std::mutex mutex_;
  std::vector<std::future<Compiled>> abandoned_;  // their destructors wait
};

class GrammarRule final : public LogitRule {
 public:
  GrammarRule(std::shared_ptr<const Grammar> grammar, const Tokenizer& tokenizer, std::size_t prompt,
              std::string after, std::shared_ptr<const GrammarTriggers> triggers)
      : grammar_(std::move(grammar)),
        tokenizer_(tokenizer),
        prompt_(prompt),
        after_(std::move(after)),
        triggers_(std::move(triggers)),
        matcher_(grammar_->compiled),
        allowed_(static_cast<std::size_t>(
            xgrammar::GetBitmaskSize(grammar_->compiled.GetTokenizerInfo().GetVocabSize()))) {
    wait();
  }

  Result<void> apply(std::span<const Token> sequence, std::span<double> logits) const override {
    if (sequence.size() < prompt_) return {};
    const std::lock_guard lock(mutex_);
    if (is_slow_) return slow();
    try {
      const xgrammar_limit::TimeLimit limit(mask_time);
      follow(sequence.subspan(prompt_));
      if (!begin_ || *begin_ + accepted_ < known_.size() || matcher_.IsTerminated()) return {};
      return mask(logits);
    } catch (const xgrammar_limit::LimitExceeded&) {
      is_slow_ = true;  // the matcher's state is lost
      return slow();
    } catch (const std::exception& failure) {
      return error(ErrorCode::internal, "grammar: {}", shown_reason(failure.what()));
    }
  }

 private:
  static Result<void> slow() {
    return error("the grammar takes longer than {} ms to compute a mask of allowed tokens",
                 mask_time.count());
  }

  /// Makes the matcher's state that of an answer's tokens.
  void follow(std::span<const Token> answer) const {
    const auto differs = std::ranges::mismatch(known_, answer).in1;
    const auto common = static_cast<std::size_t>(differs - known_.begin());
    known_.resize(common);
    if (begin_ && *begin_ <= common) {
      const std::size_t kept = std::min(accepted_, common - *begin_);
      matcher_.Rollback(static_cast<int>(accepted_ - kept));
      accepted_ = kept;
    } else {
      forget_begin();
    }
    for (const Token token : answer.subspan(common)) {
      known_.push_back(token);
      if (!begin_) {
        wait();
      } else if (*begin_ + accepted_ + 1 == known_.size() && matcher_.AcceptToken(token)) {
        ++accepted_;
      }
    }
  }

  /// Resets to an answer in which the grammar has not begun.
  void forget_begin() const {
    matcher_.Reset();
    accepted_ = 0;
    begin_.reset();
    if (mark_ && *mark_ > known_.size()) mark_.reset();
    waiting_.clear();
    if (known_.empty()) return wait();
    for (const Token token : std::span(known_).subspan(mark_.value_or(known_.size())))
      waiting_ += tokenizer_.piece(token);
  }

  /// Begins the grammar if it begins after the last token: with a mark, at the first token after the one in
  /// which the mark ends.
  void wait() const {
    if (mark_) {
      if (!triggers_ || begin_at_trigger()) begin_ = known_.size();
      return;
    }
    std::string text;
    // The mark has at most as many tokens as bytes.
    for (const Token token : std::span(known_).last(std::min(known_.size(), after_.size())))
      text += tokenizer_.piece(token);
    if (!text.contains(after_)) return;
    mark_ = known_.size();
    if (!triggers_) begin_ = mark_;
  }

  /// Looks for a trigger completed by the last token, and lets the grammar accept the text from there.
  bool begin_at_trigger() const {
    if (*mark_ == known_.size()) return false;
    const std::size_t before = waiting_.size();
    waiting_ += tokenizer_.piece(known_.back());
    const auto found = triggers_->find(waiting_, before, known_.back());
    if (found && matcher_.AcceptString(waiting_.substr(*found))) return true;
    if (found) matcher_.Reset();
    return false;
  }

  Result<void> mask(std::span<double> logits) const {
    auto size = static_cast<std::int64_t>(allowed_.size());
    DLTensor bits{.data = allowed_.data(),
                  .device = {kDLCPU, 0},
                  .ndim = 1,
                  .dtype = xgrammar::GetBitmaskDLType(),
                  .shape = &size,
                  .strides = nullptr,
                  .byte_offset = 0};
    if (!matcher_.FillNextTokenBitmask(&bits)) return {};  // all tokens are allowed
    if (std::ranges::all_of(allowed_, [](std::int32_t word) { return word == 0; }))
      return error("the grammar allows no token after {} tokens of the answer", known_.size());
    for (std::size_t word = 0; word * word_bits < logits.size(); ++word) {
      const auto allowed = word < allowed_.size() ? static_cast<std::uint32_t>(allowed_[word]) : 0U;
      if (allowed == ~0U) continue;
      const std::size_t first = word * word_bits;
      forbid(allowed, logits.subspan(first, std::min(word_bits, logits.size() - first)));
    }
    return {};
  }

  /// Forbids the tokens, up to 32, whose bit in `allowed` is 0.
  static void forbid(std::uint32_t allowed, std::span<double> logits) {
    constexpr double forbidden = -std::numeric_limits<double>::infinity();
    constexpr int few = 8;
    if (const int kept = std::popcount(allowed); kept <= few) {
      std::array<double, few> values{};
      int count = 0;
      for (std::uint32_t rest = allowed; rest != 0; rest &= rest - 1) {
        if (const auto i = static_cast<std::size_t>(std::countr_zero(rest)); i < logits.size())
          values[static_cast<std::size_t>(count++)] = logits[i];
      }
      std::ranges::fill(logits, forbidden);
      count = 0;
      for (std::uint32_t rest = allowed; rest != 0; rest &= rest - 1) {
        if (const auto i = static_cast<std::size_t>(std::countr_zero(rest)); i < logits.size())
          logits[i] = values[static_cast<std::size_t>(count++)];
      }
      return;
    }
    for (std::uint32_t rest = ~allowed; rest != 0; rest &= rest - 1) {
      if (const auto i = static_cast<std::size_t>(std::countr_zero(rest)); i < logits.size())
        logits[i] = forbidden;
    }
  }

  static constexpr std::size_t word_bits = 32;  // of allowed_
  std::shared_ptr<const Grammar> grammar_;
  const Tokenizer& tokenizer_;
  std::size_t prompt_;  // tokens
  std::string after_;
  std::shared_ptr<const GrammarTriggers> triggers_;  // null: none
  // Results for the last sequence.
  mutable std::mutex mutex_;
  mutable xgrammar::GrammarMatcher matcher_;   // after accepted_ tokens behind begin_
  mutable std::vector<std::int32_t> allowed_;  // a bit of each token
  mutable std::vector<Token> known_;           // of the answer
  mutable std::optional<std::size_t> mark_;    // where the mark has ended in known_
  mutable std::string waiting_;                // text behind the mark, if there are triggers
  mutable std::optional<std::size_t> begin_;   // of what the matcher accepts token by token, in known_
  mutable bool is_slow_ = false;               // a mask has exceeded mask_time; permanent
  mutable std::size_t accepted_ = 0;           // fewer than there are: the grammar excludes the others
};

}  // namespace

Result<std::unique_ptr<GrammarCompiler>> GrammarCompiler::make(const Tokenizer& tokenizer,
                                                               std::size_t vocabulary) {
  try {
    return std::make_unique<Compiler>(tokenizer, vocabulary);
  } catch (const std::exception& failure) {
    return error(ErrorCode::internal, "grammars: {}", shown_reason(failure.what()));
  }
}

std::shared_ptr<const LogitRule> grammar_rule(std::shared_ptr<const Grammar> grammar,
                                              const Tokenizer& tokenizer, std::size_t prompt,
                                              std::string after,
                                              std::shared_ptr<const GrammarTriggers> triggers) {
  return std::make_shared<const GrammarRule>(std::move(grammar), tokenizer, prompt, std::move(after),
                                             std::move(triggers));
}

}  // namespace spectr
