#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/model/forward.h"
#include "spectr/model/transformer_text.h"

namespace spectr {

/// A text that has the passes of its model to itself.
class TransformerSession final : public TransformerText {
 public:
  TransformerSession(const Transformer& model, std::size_t context, std::size_t nodes,
                     PassProfile* profile = nullptr)
      : TransformerText(model, context, nodes), pass_(model, most_rows(nodes), profile) {
    rows_.reserve(most_rows(nodes));
  }

 private:
  Result<void> compute(std::span<const Token> text, const TokenTree& tree) override;

  ForwardPass pass_;
  std::vector<PassRow> rows_;
};

}  // namespace spectr
