#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "spectr/text/token_frequencies.h"

namespace spectr::cli {
namespace {

struct DraftFlags {
  ModelFlags model;
  std::vector<std::string> texts;
  std::optional<std::string> output;
  std::size_t most = 32768;
};

/// Prints which share of the texts the n most frequent tokens cover.
void print_coverage(const std::vector<TokenFrequencies::Count>& ranked, std::size_t kept) {
  std::uint64_t all = 0, covered = 0;
  for (const auto& count : ranked) all += count.count;
  for (std::size_t i = 0; i < std::min(kept, ranked.size()); ++i) covered += ranked[i].count;
  fmt::print(stderr, "{} tokens, {} different; the {} most frequent are {:.2f} % of the texts\n", all,
             ranked.size(), std::min(kept, ranked.size()),
             100.0 * static_cast<double>(covered) / static_cast<double>(all));
}

void write_vocabulary(const DraftFlags& flags) {
  const auto tokenizer = load_tokenizer(flags.model.model);
  TokenFrequencies frequencies(tokenizer->vocabulary());
  for (const std::string& path : flags.texts)
    frequencies.add(tokenizer->encode(read_file(path), {.add_bos = false, .parse_special = true}));
  const auto ranked = frequencies.ranked();
  if (std::min(ranked.size(), flags.most) < min_shortlist) {
    throw Failure(Status::usage, fmt::format("the texts have {} different tokens: a draft needs at least {}",
                                             ranked.size(), min_shortlist));
  }
  const std::string file = frequencies.file(flags.most);
  if (flags.output) {
    std::ofstream out(*flags.output, std::ios::binary);
    out << file;
    out.close();
    if (!out) throw Failure(Status::failed, fmt::format("{} cannot be written", *flags.output));
  } else {
    std::fwrite(file.data(), 1, file.size(), stdout);
  }
  print_coverage(ranked, flags.most);
}

}  // namespace

void add_draft(CLI::App& app) {
  CLI::App& draft = *app.add_subcommand("draft", "Make draft models cheaper");
  draft.require_subcommand(1);
  auto flags = std::make_shared<DraftFlags>();
  CLI::App& command = *draft.add_subcommand(
      "vocabulary", "Which tokens occur in some texts, for --draft-vocab: the most frequent first");
  flags->model.add_model(command, true);
  repeatable(command.add_option("-f,--file", flags->texts, "a file of text; repeatable"))
      ->transform(file_name())
      ->required();
  command.add_option("-o,--output", flags->output, "the file to write (default: standard output)")
      ->transform(file_name());
  command.add_option("-n", flags->most, "how many tokens at most")
      ->transform(whole(static_cast<std::int64_t>(min_shortlist)))
      ->capture_default_str();
  command.callback([flags] { write_vocabulary(*flags); });
  add_draft_logits(draft);
  add_draft_features(draft);
  add_draft_train(draft);
}

}  // namespace spectr::cli
