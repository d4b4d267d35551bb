#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "spectr/lm/language_model.h"

namespace spectr::test {

/// Wraps another model and memoises its logits: each text is computed once, alone, and then looked up.
/// Sessions keep nothing of other texts, so decoders on a real model can be run repeatedly from few prefixes,
/// and enumerated. The model must outlive this object, and this object its sessions. Not thread-safe.
class MemoisingModel final : public LanguageModel {
 public:
  explicit MemoisingModel(const LanguageModel& model) : model_(model) {}

  std::string_view name() const override { return model_.name(); }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return model_.context(); }
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override;

  /// Returns the logits after a text.
  Result<const std::vector<double>*> logits(const std::vector<Token>& text, Session& session) const;

  /// Returns the number of memoised texts.
  std::size_t texts() const { return known_.size(); }

 private:
  const LanguageModel& model_;
  mutable std::map<std::vector<Token>, std::vector<double>> known_;
};

}  // namespace spectr::test
