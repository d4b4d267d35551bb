#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/gguf/gguf.h"

namespace spectr::test {

/// Computes EAGLE-3, DFlash, DSpark and DFlash 2 drafters by plain loops in double precision over a file's
/// keys and tensors: without caches, passes or a ModelSpec. The target's states are given.
class DrafterDefinition {
 public:
  using Vector = std::vector<double>;

  struct Step {
    Vector logits;            ///< over the target's tokens
    double confidence = 0.0;  ///< of DSpark
  };

  /// Both files must outlive it.
  DrafterDefinition(const Gguf& file, const Gguf& target);

  /// Returns the steps along `path` after a sequence. `features` are those of all of its tokens but the last.
  /// A block has as many steps as it predicts; `path` must be as long, or one token shorter.
  std::vector<Step> steps(std::span<const Token> sequence, const std::vector<Vector>& features,
                          std::span<const Token> path) const;

 private:
  using Rows = std::vector<Vector>;

  double real(const std::string& name, double fallback) const;
  std::size_t count(const std::string& name, std::size_t fallback) const;
  bool boolean(const std::string& name, bool fallback) const;
  bool has(const std::string& tensor) const { return file_.tensor(tensor) != nullptr; }
  /// Returns all numbers of a tensor.
  Vector numbers(const std::string& tensor) const;
  Vector row(const std::string& tensor, Token token) const;
  /// Returns a token's embedding, the target's unless the file has its own.
  Vector embedding(Token token) const;
  /// Returns PREFIX.weight x, times PREFIX.scale.
  Vector product(const std::string& prefix, const Vector& x) const;
  /// Normalizes all of x, or each head of it; without a weight if `tensor` is empty.
  Vector rms(Vector x, const std::string& tensor, std::size_t head = 0) const;
  void rotate(Vector& x, std::size_t position, bool neighbours) const;
  Vector attend(const Vector& q, const Rows& keys, const Rows& values, const std::vector<std::size_t>& seen,
                const std::string& sinks) const;
  Vector feed_forward(const Vector& x, const std::string& block) const;
  /// Returns logits over the target's tokens.
  Vector head(const Vector& state) const;
  /// Returns numbers by the target's token, from those of the drafter's rows; −∞ for tokens without a row.
  Vector over_tokens(const Vector& rows) const;
  /// Applies a convolution over the rows of a block; `inputs` give its factors.
  void convolve(const std::string& prefix, std::size_t side, const Rows& inputs, Rows& rows) const;

  std::vector<Step> eagle3(std::span<const Token> sequence, const Rows& features,
                           std::span<const Token> path) const;
  Rows block_states(std::span<const Token> sequence, const Rows& features) const;
  std::vector<Step> block(std::span<const Token> sequence, const Rows& features,
                          std::span<const Token> path) const;

  const Gguf& file_;
  const Gguf& target_;
  std::string prefix_;  // "eagle3."
  std::size_t width_, heads_, kv_heads_, dim_;
  double epsilon_;
};

}  // namespace spectr::test
