#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/output.h"
#include "apps/cli/report/progress.h"
#include "spectr/decode/score_sequence.h"
#include "spectr/sampling/likelihood.h"

namespace spectr::cli {
namespace {

// Maximum number of rows of logits that a pass returns.
constexpr std::size_t rows_per_pass = 64;

/// Splits a text into windows that the model scores separately. Each window begins with BOS if the vocabulary
/// requires it (not counted as text) and continues with the next tokens of the text.
class Windows {
 public:
  /// `tokens` may begin with BOS. Requires: size ≥ 2.
  Windows(const Vocabulary& vocabulary, std::vector<Token> tokens, std::size_t size)
      : text_(std::move(tokens)), size_(size) {
    if (!vocabulary.add_bos()) return;
    bos_ = vocabulary.bos();
    const auto is_bos = [&](Token token) { return token == *bos_; };
    text_.erase(text_.begin(), std::ranges::find_if_not(text_, is_bos));
  }

  /// Returns the number of predicted tokens: all except the first of each window.
  std::size_t predicted() const { return text_.size() - (bos_ ? 0 : (text_.size() + size_ - 1) / size_); }
  /// Returns the length of the longest window in tokens.
  std::size_t longest() const { return std::min(size_, text_.size() + begin_size()); }

  /// Return the number of tokens of the text, and how many of them next() has consumed.
  std::size_t size() const { return text_.size(); }
  std::size_t read() const { return read_; }

  /// Returns the next window, or an empty one at the end. Valid until the next call.
  std::span<const Token> next() {
    const std::size_t count = std::min(size_ - begin_size(), text_.size() - read_);
    window_.clear();
    if (count == 0) return window_;
    if (bos_) window_.push_back(*bos_);
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(read_);
    window_.insert(window_.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    read_ += count;
    return window_;
  }

 private:
  std::size_t begin_size() const { return bos_ ? 1 : 0; }

  std::vector<Token> text_;
  std::size_t size_;
  std::optional<Token> bos_;
  std::vector<Token> window_;
  std::size_t read_ = 0;
};

/// Σ −log q(x_i | x_<i) over the tokens after the window's first.
double window_nll(Session& session, std::span<const Token> window) {
  double nll = 0.0;
  session.rewind(0);
  need(score_sequence(session, window, rows_per_pass,
                      [&](std::size_t i, const Logits& logits) {
                        nll += negative_log_likelihood(logits, window[i]);
                        need(logits.state(), Status::failed);
                      }),
       Status::failed);
  return nll;
}

}  // namespace

void add_perplexity(CLI::App& app) {
  struct Flags {
    ModelFlags model;
    TextInput input;
    bool special = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "perplexity",
      "Perplexity of a text: exp of the mean negative log-likelihood (nll, in nats) of its tokens, in\n"
      "consecutive windows of the context's size. Each window begins with the model's BOS token where the\n"
      "model wants one, and with a token of the text otherwise; every token after that first one counts");
  flags->model.add_model(command, true);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->model.add_context(command, "tokens of a window");
  flags->input.add_file(command);
  command.add_flag("--special", flags->special, "recognise special tokens in the text");
  command.add_flag("--json")->description("changes nothing: the output is JSON");
  command.callback([flags] {
    const std::string text = flags->input.read();
    const EngineModels models = need(EngineModels::load(flags->model.target_options()));
    flags->model.extend_context(*models.target);
    const std::size_t asked = static_cast<std::size_t>(flags->model.context),
                      size = asked > 0 ? asked : models.target->context();
    if (size < 2) throw Failure(Status::usage, fmt::format("-c: a window needs 2 tokens, got {}", size));
    Windows windows(models.tokenizer->vocabulary(),
                    models.tokenizer->encode(text, {.parse_special = flags->special}), size);
    if (windows.longest() < 2) {
      throw Failure(Status::usage,
                    fmt::format("{}: perplexity needs a token to predict, the text has {} tokens",
                                *flags->input.file, windows.size()));
    }
    // A text shorter than the window size needs less context.
    const auto session = need(models.target->start(windows.longest(), rows_per_pass));
    double nll = 0.0;
    Progress progress("perplexity", windows.size());
    for (auto window = windows.next(); !window.empty(); window = windows.next()) {
      nll += window_nll(*session, window);
      progress.at(windows.read());
    }
    progress.done();
    if (std::isnan(nll)) {
      throw Failure(Status::failed,
                    fmt::format("{}: the logits that it gives are no numbers", flags->model.model));
    }
    const double mean = nll / static_cast<double>(windows.predicted());
    print_json({{"perplexity", std::exp(mean)}, {"nll", mean}, {"tokens", windows.predicted()}});
  });
}

}  // namespace spectr::cli
