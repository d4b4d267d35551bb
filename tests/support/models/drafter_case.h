#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectr/nn/drafters/drafter_session.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/nn/transformer.h"
#include "tests/support/data.h"
#include "tests/support/value_of.h"

namespace spectr::test {

/// A small drafter with its target and another engine's results, from tests/data/drafters.
class DrafterCase {
 public:
  using Json = nlohmann::json;

  /// Throws if a file is missing or invalid.
  DrafterCase(const std::string& name, std::shared_ptr<const Backend> backend, const Slimming& slimming = {})
      : figures_(Json::parse(std::ifstream(folder() / (name + ".json")))) {
    const bool is_own_layer = figures_["drafter"].is_null();
    Gguf file = Gguf::open(folder() / (is_own_layer ? figures_["target"].get<std::string>() : name + ".gguf"))
                    .value();
    target_ = Transformer::load(Gguf::open(folder() / figures_["target"].get<std::string>()).value(), backend,
                                {.kv = {KvType::f32, KvType::f32}, .taps = taps_of(file).value()})
                  .value();
    drafter_ = TrainedDrafter::load(std::move(file), *target_, std::move(backend), nullptr, slimming).value();
  }

  static std::filesystem::path folder() { return source_folder() / "tests/data/drafters"; }

  const Json& figures() const { return figures_; }
  const Transformer& target() const { return *target_; }
  const TrainedDrafter& drafter() const { return *drafter_; }

  /// Returns the tokens of the entries of the drafter's logits.
  std::vector<Token> rows() const {
    if (const Json map = figures_.value("d2t", Json()); !map.is_null()) return map.get<std::vector<Token>>();
    std::vector<Token> all(target_->vocabulary());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Token>(i);
    return all;
  }

  /// The sessions of one sequence.
  struct Sessions {
    std::unique_ptr<Session> target;
    std::unique_ptr<DrafterSession> drafter;
  };
  Sessions start(std::size_t nodes = 40, std::size_t block_rows = 0) const {
    Sessions sessions{target_->start(200, nodes).value(), nullptr};
    sessions.drafter = drafter_->follow(*sessions.target, {.nodes = nodes, .block_rows = block_rows}).value();
    return sessions;
  }

 private:
  Json figures_;
  std::unique_ptr<Transformer> target_;
  std::unique_ptr<TrainedDrafter> drafter_;
};

/// Returns ‖found − expected‖ / ‖expected‖ over the entries of a row that `tokens` selects.
inline double relative_l2(const Logits& found, const std::vector<Token>& tokens,
                          const std::vector<double>& expected) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = found.at(tokens[i]) - expected[i];
    difference += off * off;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

/// Returns the sequence of a round: its text and the last token.
inline std::vector<Token> sequence_of(const nlohmann::json& round) {
  auto sequence = round["text"].get<std::vector<Token>>();
  sequence.push_back(round["last"].get<Token>());
  return sequence;
}

}  // namespace spectr::test
