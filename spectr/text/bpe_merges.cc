#include "spectr/text/bpe_merges.h"

#include "spectr/base/names.h"

namespace spectr {
namespace {

constexpr std::string_view merges_key = "tokenizer.ggml.merges";

std::uint64_t pair_of(int left, int right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

Result<BpeMerges> BpeMerges::load(const Gguf& file, const Vocabulary& vocabulary) {
  if (!file.find(merges_key)) return error("{}: {} is missing", file.name(), merges_key);
  SPECTR_TRY(const auto list, file.strings(merges_key));
  BpeMerges merges;
  const auto number = [&](std::string_view text) {
    if (const auto known = merges.symbol(vocabulary, text)) return *known;
    const auto next = static_cast<int>(vocabulary.size() + merges.others_.size());
    return merges.others_.emplace(text, next).first->second;
  };
  merges.merges_.reserve(list.size());
  std::string joined;
  for (std::size_t rank = 0; rank < list.size(); ++rank) {
    const std::string_view pair = list[rank];
    const std::size_t space = pair.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == pair.size()) {
      return error("{}: {} is {} at {}, not two texts with a space between", file.name(), merges_key,
                   quote(pair), rank);
    }
    const std::string_view left = pair.substr(0, space), right = pair.substr(space + 1);
    joined.assign(left).append(right);
    merges.merges_.emplace(pair_of(number(left), number(right)),
                           Merge{static_cast<double>(rank), number(joined)});
  }
  return merges;
}

std::optional<int> BpeMerges::symbol(const Vocabulary& vocabulary, std::string_view text) const {
  if (const auto token = vocabulary.find_plain(text)) return *token;
  const auto other = others_.find(std::string(text));
  return other == others_.end() ? std::nullopt : std::optional(other->second);
}

void BpeMerges::apply(std::vector<Symbol>& symbols) const {
  merge_pairs(symbols, [this](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
    const auto found = merges_.find(pair_of(left.id, right.id));
    return found == merges_.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace spectr
