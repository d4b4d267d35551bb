// Arbitrary bytes must either be a model that computes the logits of two tokens or yield an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/nn/transformer.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spectr;
  static ThreadPool pool(1);
  auto file = Gguf::parse(std::as_bytes(std::span(data, size)), "fuzz.gguf");
  if (!file) return 0;
  const auto model = Transformer::load(std::move(*file), std::make_shared<CpuBackend>(pool));
  if (!model) return 0;
  const auto session = (*model)->start(std::min<std::size_t>((*model)->context(), 8), 2);
  if (!session) return 0;
  const std::vector<Token> text = {0, static_cast<Token>((*model)->vocabulary() - 1)};
  if (!(*session)->score(text, TokenTree(text.back()))) return 0;
  const Logits logits = (*session)->logits(TokenTree::root);
  [[maybe_unused]] volatile double sum = 0.0;
  for (std::size_t i = 0; i < logits.size(); ++i) sum = sum + logits.at(static_cast<Token>(i));
  return 0;
}
