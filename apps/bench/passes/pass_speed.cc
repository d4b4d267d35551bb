#include "apps/bench/passes/pass_speed.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "spectr/base/stopwatch.h"

namespace spectr::bench {
namespace {

/// Returns the i-th token of a fixed, arbitrary sequence.
Token token_at(std::size_t i, std::size_t vocabulary) {
  return static_cast<Token>(i * 2654435761u % vocabulary);
}

Result<void> run(Session& session, std::span<const Token> text, const PassTest& test) {
  const std::size_t end = test.depth + test.prompt;
  if (test.prompt > 0) SPECTR_TRY_VOID(session.score(text.first(end), TokenTree(text[end - 1])));
  for (std::size_t i = 1; i <= test.generated; ++i) {
    SPECTR_TRY_VOID(session.score(text.first(end + i), TokenTree(text[end + i - 1])));
    session.keep({});
  }
  return {};
}

}  // namespace

std::string PassTest::name() const {
  std::string name = prompt > 0 ? fmt::format("pp{}", prompt) : "";
  if (generated > 0) name += fmt::format("{}tg{}", name.empty() ? "" : "+", generated);
  return depth > 0 ? fmt::format("{} @ d{}", name, depth) : name;
}

Result<std::vector<double>> time_passes(const Transformer& model, const PassTest& test,
                                        std::size_t repetitions) {
  const std::size_t length = test.depth + test.prompt + test.generated;
  SPECTR_TRY(const std::unique_ptr<Session> session, model.start(0, 1));
  if (length > session->context()) {
    return error("{}: {} needs a context of {} tokens, the model has {}", model.spec().file, test.name(),
                 length, session->context());
  }
  std::vector<Token> text(length);
  for (std::size_t i = 0; i < length; ++i) text[i] = token_at(i, model.vocabulary());
  if (test.depth > 0) {
    SPECTR_TRY_VOID(session->score(std::span(text).first(test.depth), TokenTree(text[test.depth - 1])));
    session->keep({});
  }
  std::vector<double> nanoseconds;
  for (std::size_t i = 0; i <= repetitions; ++i) {
    session->rewind(test.depth);
    Stopwatch watch;
    SPECTR_TRY_VOID(run(*session, text, test));
    const double spent = watch.lap() * 1e9;
    if (i > 0) nanoseconds.push_back(spent);
  }
  return nanoseconds;
}

}  // namespace spectr::bench
