#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/feature_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/progress.h"
#include "spectr/base/counter_random.h"
#include "spectr/base/hash.h"
#include "spectr/decode/score_sequence.h"

namespace spectr::cli {
namespace {

/// Settings of training data for a drafter.
struct FeatureFlags {
  ModelFlags model;
  std::vector<std::string> texts;
  std::string output;
  std::vector<std::size_t> layers;     ///< empty: see default_layers()
  std::size_t length = 256;            ///< maximum tokens of a sequence
  std::optional<std::size_t> opening;  ///< given tokens, after which the target writes; none: all are given
  std::size_t count = 0;               ///< sequences; 0: one for each piece of the texts
  std::size_t top = 64;                ///< probabilities per token
  std::uint64_t seed = 0;
  std::string type = "bf16";  ///< of the features: bf16 or f32
};

// Sequences that the target writes in shared passes, and tokens of a given sequence per pass.
constexpr std::size_t streams = 16, given_rows = 64;

/// Returns the texts of a file: the prompts or texts of JSON Lines, else the whole file.
std::vector<std::string> texts_of(const std::string& path) {
  const std::string contents = read_file(path);
  if (std::filesystem::path(path).extension() != ".jsonl") return {contents};
  std::vector<std::string> texts;
  std::istringstream lines(contents);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const Json row = Json::parse(line, nullptr, false);
    const auto is_text = [&](const char* field) {
      return row.is_object() && row.contains(field) && row[field].is_string();
    };
    if (!is_text("prompt") && !is_text("text"))
      throw Failure(Status::usage, fmt::format("{}:{}: has no \"prompt\" or \"text\"", path, number));
    texts.push_back(row[is_text("prompt") ? "prompt" : "text"]);
  }
  return texts;
}

/// Cuts the texts into pieces of at most `length` tokens, each with BOS if the vocabulary requires it.
std::vector<std::vector<Token>> pieces_of(const FeatureFlags& flags, const Tokenizer& tokenizer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const std::size_t first = vocabulary.add_bos() ? 1 : 0;
  std::vector<std::vector<Token>> pieces;
  for (const std::string& path : flags.texts) {
    for (const std::string& text : texts_of(path)) {
      const auto tokens = tokenizer.encode(text, {.add_bos = false, .parse_special = true});
      for (std::size_t begin = 0; begin < tokens.size(); begin += flags.length - first) {
        const std::size_t end = std::min(tokens.size(), begin + flags.length - first);
        std::vector<Token> piece;
        if (first == 1) piece.push_back(*vocabulary.bos());
        piece.insert(piece.end(), tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(end));
        if (flags.opening) piece.resize(std::min(piece.size(), *flags.opening));
        if (piece.size() >= 2 || flags.opening) pieces.push_back(std::move(piece));
      }
    }
  }
  if (pieces.empty())
    throw Failure(Status::usage, fmt::format("{}: the texts are empty", flags.texts.front()));
  return pieces;
}

std::string hash_of(const std::vector<std::vector<Token>>& pieces) {
  Fnv1a hash;
  for (const auto& piece : pieces) {
    hash.add(piece.size());
    for (const Token token : piece) hash.add(static_cast<std::uint64_t>(token));
  }
  return fmt::format("{:016x}", hash.value());
}

/// Returns three layers: an early one, the middle one and a late one. Those of deep models are the ones that
/// published EAGLE-3 heads read.
std::vector<std::size_t> default_layers(const std::string& path) {
  const Gguf file = need(Gguf::open(path));
  const std::string architecture(need(file.string("general.architecture")));
  const auto blocks = need(file.integer(architecture + ".block_count"));
  const auto further = need(file.integer(architecture + ".nextn_predict_layers", 0));
  const auto layers = static_cast<std::size_t>(blocks - std::min(blocks, further));
  if (layers < 3) return {0};
  if (layers < 9) return {1, layers / 2, layers - 1};
  return {2, layers / 2, layers - 3};
}

/// A sequence that is being scored or written.
class Stream {
 public:
  Stream(const Transformer& target, const FeatureFlags& flags)
      : session_(need(target.start(flags.length, given_rows))), flags_(flags) {
    session_->features()->record(Features::Recorded::all);
  }

  /// Scores the given tokens. Requires: one or more.
  void start(std::span<const Token> given, std::uint64_t sample) {
    session_->rewind(0);
    random_.emplace(flags_.seed, sample);
    record_ = {.tokens = {given.begin(), given.end()}, .given = given.size()};
    need(score_sequence(*session_, given, given_rows, [&](std::size_t, const Logits& row) { add_row(row); }),
         Status::failed);
    ended_ = !flags_.opening;
  }

  bool writes() const { return !ended_ && record_.tokens.size() < flags_.length; }
  Scoring next() {
    root_.emplace(record_.tokens.back());
    return {.session = session_.get(), .text = record_.tokens, .tree = &*root_};
  }
  /// Draws the next token after a scoring of next().
  void draw(const Vocabulary& vocabulary) {
    const Logits row = session_->logits(TokenTree::root);
    const double sum = add_row(row);
    weights_.resize(row.size());
    for (std::size_t i = 0; i < weights_.size(); ++i)
      weights_[i] = std::exp(row.at(static_cast<Token>(i)) - sum);
    random_->enter({.position = record_.tokens.size()});
    const auto token = static_cast<Token>(random_->draw(weights_));
    session_->keep({});
    record_.tokens.push_back(token);
    ended_ = vocabulary.is_end(token);
  }

  /// Returns the sequence with its features.
  const FeatureRecord& finish() {
    const Features& features = *session_->features();
    record_.features.clear();
    for (std::size_t i = 0; i + 1 < record_.tokens.size(); ++i) {
      const auto row = features.at(i);
      record_.features.insert(record_.features.end(), row.begin(), row.end());
    }
    return record_;
  }

 private:
  /// Adds a row of log-probabilities. Returns the logarithm of the sum of exponentials.
  double add_row(const Logits& row) {
    const double sum = row.log_sum_exp();
    const auto top = row.top(flags_.top);
    for (std::size_t i = 0; i < flags_.top; ++i) {
      record_.top.push_back(i < top.size() ? top[i].token : 0);
      record_.top_log_q.push_back(i < top.size() ? static_cast<float>(top[i].logit - sum)
                                                 : -std::numeric_limits<float>::infinity());
    }
    return sum;
  }

  std::unique_ptr<Session> session_;
  const FeatureFlags& flags_;
  std::optional<CounterRandom> random_;
  std::optional<TokenTree> root_;
  std::vector<double> weights_;
  FeatureRecord record_;
  bool ended_ = false;
};

/// Writes all sequences to their ends, in shared passes.
void write_to_end(std::span<Stream> group, const Transformer& target, const Vocabulary& vocabulary) {
  std::vector<Stream*> writing;
  std::vector<Scoring> scorings;
  for (;;) {
    writing.clear();
    scorings.clear();
    for (Stream& stream : group) {
      if (!stream.writes()) continue;
      writing.push_back(&stream);
      scorings.push_back(stream.next());
    }
    if (writing.empty()) return;
    while (!std::ranges::all_of(scorings, &Scoring::is_over)) target.score_together(scorings);
    for (std::size_t i = 0; i < writing.size(); ++i) {
      if (scorings[i].failure) std::rethrow_exception(scorings[i].failure);
      need(std::move(scorings[i].result), Status::failed);
      writing[i]->draw(vocabulary);
    }
  }
}

/// Has the target write or score sequences and appends them to the file until it is complete. Throws Failure.
void write_features(const FeatureFlags& flags) {
  ModelOptions options = flags.model.target_options();
  const auto layers = flags.layers.empty() ? default_layers(flags.model.model) : flags.layers;
  for (const std::size_t layer : layers) options.load.taps.taps.push_back({layer});
  options.load.taps.source = "--layers";
  const EngineModels models = need(EngineModels::load(options));
  const Transformer& target = *models.target;
  if (flags.length > target.context()) {
    throw Failure(Status::usage, fmt::format("-n: {} tokens, but the context of {} holds {}", flags.length,
                                             flags.model.model, target.context()));
  }
  FeatureFlags settings = flags;
  settings.top = std::min(flags.top, target.vocabulary());
  const auto pieces = pieces_of(settings, *models.tokenizer);
  const std::size_t count = flags.count > 0 ? flags.count : pieces.size();
  FeatureFile file(flags.output, {{"target", std::filesystem::path(flags.model.model).filename().string()},
                                  {"vocabulary", target.vocabulary()},
                                  {"layers", layers},
                                  {"width", layers.size() * target.spec().width},
                                  {"bytes", flags.type == "f32" ? 4 : 2},
                                  {"top", settings.top},
                                  {"length", flags.length},
                                  {"opening", flags.opening ? Json(*flags.opening) : Json()},
                                  {"seed", flags.seed},
                                  {"texts", hash_of(pieces)}});
  std::vector<Stream> group;
  for (std::size_t i = 0; i < std::min(streams, count); ++i) group.emplace_back(target, settings);
  Progress progress("features", count);
  while (file.size() < count) {
    const std::size_t first = file.size(), size = std::min(group.size(), count - first);
    for (std::size_t i = 0; i < size; ++i) group[i].start(pieces[(first + i) % pieces.size()], first + i);
    write_to_end(std::span(group).first(size), target, models.tokenizer->vocabulary());
    for (std::size_t i = 0; i < size; ++i) file.append(group[i].finish());
    progress.at(file.size());
  }
  progress.done();
}

}  // namespace

void add_draft_features(CLI::App& draft) {
  auto flags = std::make_shared<FeatureFlags>();
  CLI::App& command = *draft.add_subcommand(
      "features",
      "Training data for a drafter: what the target computes for texts that are given or that it\n"
      "writes. An interrupted run continues where it ended");
  flags->model.add_model(command, true);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  repeatable(
      command.add_option("-f,--file", flags->texts,
                         "a file of text, or JSON Lines with a \"prompt\" or \"text\" in each; repeatable"))
      ->transform(file_name())
      ->required();
  add_list(
      command, "--layers", flags->layers,
      "layers of the target whose inputs are the features (default: an early, the middle and a late one)", 0,
      1 << 16);
  command.add_option("-n", flags->length, "tokens of a sequence at most")
      ->transform(whole(2, 1 << 20))
      ->capture_default_str();
  command
      .add_option("--opening", flags->opening,
                  "keep N tokens of each text and have the target write the rest, at temperature 1")
      ->transform(whole(1, 1 << 20));
  command.add_option("--count", flags->count, "sequences; texts are used again (default: one for each)")
      ->transform(whole(1, 1 << 30));
  command.add_option("--top", flags->top, "probabilities of the target per token")
      ->transform(whole(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--seed", flags->seed, "seed of the target's texts")
      ->transform(whole(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command.add_option("--feature-type", flags->type, "numbers of the features: bf16 or f32")
      ->transform(CLI::IsMember({"bf16", "f32"}))
      ->capture_default_str();
  command.add_option("-o,--output", flags->output, "the file to write or to complete")
      ->transform(file_name())
      ->required();
  command.callback([flags] { write_features(*flags); });
}

}  // namespace spectr::cli
