#include <algorithm>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/output.h"
#include "spectr/base/names.h"
#include "spectr/sampling/likelihood.h"

namespace spectr::cli {
namespace {

constexpr std::size_t shown_tokens = 10;

void print_likeliest(const Tokenizer& tokenizer, std::span<const float> logits) {
  fmt::print("{:>8}  {:>12}  text\n", "id", "logit");
  for (const Likelihood& one : likeliest(Logits(logits), shown_tokens)) {
    fmt::print("{:>8}  {:>12.6f}  {}\n", one.token, logits[static_cast<std::size_t>(one.token)],
               quote(tokenizer.vocabulary().text(one.token)));
  }
}

}  // namespace

void add_logits(CLI::App& app) {
  struct Flags {
    ModelFlags model;
    std::string tokens;
    long context = 0;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("logits", "Logits of the token after a list of ids");
  flags->model.add_model(command, true);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  command.add_option("--tokens", flags->tokens, "ids, separated by commas")->required();
  command
      .add_option("-c,--ctx-size", flags->context,
                  "tokens of the session, on which the positions of some models depend; 0: as many as ids")
      ->transform(whole(0, 1L << 30));
  command.add_flag("--json", flags->json, "print {\"tokens\": [...], \"logits\": [...]}, all of them");
  command.callback([flags] {
    const EngineModels models = need(EngineModels::load(flags->model.target_options()));
    const auto tokens = parse_tokens(flags->tokens, models.target->vocabulary());
    const auto context = static_cast<std::size_t>(flags->context);
    if (context > 0 && tokens.size() > context)
      throw Failure(Status::usage, fmt::format("--tokens: {} ids, but -c is {}", tokens.size(), context));
    const std::size_t least = std::min(tokens.size(), models.target->context());
    const auto session = need(models.target->start(context > 0 ? context : least, 1));
    need(session->score(tokens, TokenTree(tokens.back())));
    const Logits row = session->logits(TokenTree::root);
    std::vector<float> logits;
    std::visit([&logits](const auto values) { logits.assign(values.begin(), values.end()); }, row.values());
    need(row.state(), Status::failed);
    if (flags->json) {
      print_json({{"tokens", tokens}, {"logits", logits}});
    } else {
      print_likeliest(*models.tokenizer, logits);
    }
  });
}

}  // namespace spectr::cli
