#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "apps/cli/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/output.h"
#include "apps/cli/progress.h"
#include "apps/cli/text_input.h"
#include "spectr/sampling/likelihood.h"

namespace spectr::cli {
namespace {

// Positions whose logits are held at once.
constexpr std::size_t rows_per_pass = 64;

/// Σ −log q(x_i | x_<i) over the tokens after the window's first, read as a chain of nodes.
double window_nll(Session& session, std::span<const Token> window) {
  double nll = 0.0;
  session.rewind(0);
  for (std::size_t begin = 0; begin + 1 < window.size();) {
    // Tokens begin … end−1 predict begin+1 … end.
    const std::size_t end = std::min(begin + rows_per_pass, window.size() - 1);
    TokenTree chain(window[begin]);
    std::vector<NodeId> path;
    NodeId node = TokenTree::root;
    for (std::size_t i = begin + 1; i < end; ++i) path.push_back(node = chain.child(node, window[i]));
    need(session.score(window.first(begin + 1), chain), Status::failed);
    node = TokenTree::root;
    for (std::size_t i = begin; i < end; ++i) {
      nll += negative_log_likelihood(session.logits(node), window[i + 1]);
      if (i + 1 < end) node = path[i - begin];
    }
    session.keep(path);
    begin = end;
  }
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
      "consecutive windows of the context's size; every token after a window's first counts");
  flags->model.add_model(command, true);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->model.add_context(command, "tokens of a window");
  flags->input.add_file(command);
  command.add_flag("--special", flags->special, "recognise special tokens in the text");
  command.add_flag("--json")->description("changes nothing: the output is JSON");
  command.callback([flags] {
    ThreadPool pool(flags->model.thread_count());
    const std::string text = flags->input.read();
    const LoadedModel model = need(load_model(flags->model.model, pool, flags->model.load_options()));
    const auto tokens = model.tokenizer->encode(text, {.parse_special = flags->special});
    flags->model.extend_context(*model.transformer);
    const std::size_t asked = static_cast<std::size_t>(flags->model.context),
                      window = asked > 0 ? asked : model.transformer->context();
    if (window < 2) throw Failure(Status::usage, fmt::format("-c: a window needs 2 tokens, got {}", window));
    if (tokens.size() < 2) {
      throw Failure(Status::usage, fmt::format("{}: perplexity needs 2 tokens, the text has {}",
                                               *flags->input.file, tokens.size()));
    }
    // A short text needs no more room than it has tokens.
    const std::size_t room = std::min(window, tokens.size());
    const auto session = need(model.transformer->start(room, rows_per_pass));
    double nll = 0.0;
    std::size_t counted = 0;
    Progress progress("perplexity", tokens.size());
    for (std::size_t begin = 0; begin < tokens.size(); begin += window) {
      const auto part = std::span(tokens).subspan(begin, std::min(window, tokens.size() - begin));
      nll += window_nll(*session, part);
      counted += part.size() - 1;
      progress.at(begin + part.size());
    }
    progress.done();
    if (std::isnan(nll)) {
      throw Failure(Status::failed,
                    fmt::format("{}: the logits that it gives are no numbers", flags->model.model));
    }
    const double mean = nll / static_cast<double>(counted);
    print_json({{"perplexity", std::exp(mean)}, {"nll", mean}, {"tokens", counted}});
  });
}

}  // namespace spectr::cli
