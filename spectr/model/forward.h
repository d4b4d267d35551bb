#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/span2d.h"
#include "spectr/base/token.h"
#include "spectr/kernels/matmul.h"
#include "spectr/model/kv_cache.h"
#include "spectr/model/pass_profile.h"
#include "spectr/model/transformer.h"
#include "spectr/model/weights.h"

namespace spectr {

/// One row of a pass: a token at a position of a text, written to a slot of the text's cache, which attends
/// to the first `prefix` slots of that cache and to the listed ones (its ancestors in the tree and itself).
struct PassRow {
  Token token;
  std::size_t position;
  std::size_t slot;
  std::size_t prefix;
  std::span<const int> extra;
  KvCache* cache;
  float* logits;  ///< where its logits go, [vocabulary]; null where nobody asks for them
};

/// The forward pass: rows → logits, layer by layer, all rows at once, of one text or of several. What a row
/// gives depends on its own text alone, bit for bit. Owns the memory between the operations, planned for
/// `most_rows` rows; that of scores grows with the first passes that need it.
class ForwardPass {
 public:
  /// `profile`, where there is one, is told what every pass spends and must outlive this.
  ForwardPass(const Transformer& model, std::size_t most_rows, PassProfile* profile = nullptr);

  /// Before passes of several texts: room for so many rows of logits that go to several places. Throws
  /// std::bad_alloc.
  void make_room_for_logits(std::size_t rows);

  /// Computes the rows, writes their keys and values into their caches, and their logits to where they shall
  /// go. Requires: 1 ≤ rows ≤ most_rows; slots attended to are filled or belong to these rows.
  void run(std::span<const PassRow> rows);

 private:
  /// Queries that attend together. Those of one head of keys are counted row after row, so query i is of row
  /// i / (heads per head of keys).
  struct Part {
    std::size_t begin;
    std::size_t size;
  };

  void embed(std::span<const PassRow> rows);
  void prepare_angles(std::span<const PassRow> rows);
  void divide(std::span<const PassRow> rows);
  void make_room_for_scores(std::span<const PassRow> rows);
  /// Turns the queries and the keys of one head of keys by their positions, normalised where the model has it
  /// so, and caches its keys and values.
  void turn(const LayerWeights& layer, std::size_t index, std::size_t kv_head, std::span<const PassRow> rows);
  /// Attention of a few queries of one head of keys.
  void attend(std::size_t layer, std::size_t kv_head, Part part, std::span<const PassRow> rows, ReadFrom from,
              std::size_t thread);
  void attention(const LayerWeights& layer, std::size_t index, std::span<const PassRow> rows);
  void feed_forward(const LayerWeights& layer);
  void head(std::span<const PassRow> rows);
  void normalise_row(const Norm& norm, std::span<const float> x, std::span<float> out) const;
  /// Of the rows that run through the layers: the block's input; what a block gives is added; or both.
  void normalise(const Norm& norm);
  void add_branch();
  void add_branch_and_normalise(const Norm& norm);
  /// y = linear(x) for every target, in one go.
  struct Target {
    const Linear& linear;
    Span2d<float> y;
  };
  void multiply(Operation operation, std::initializer_list<Target> targets, Span2d<const float> x);
  /// Tells the profile, if any, that this operation ends here.
  template <class... What>
  void ends(Operation operation, const What&... what) {
    if (profile_ != nullptr) profile_->add(operation, what...);
  }
  Span2d<float> view(const std::unique_ptr<float[]>& memory, std::size_t cols);

  const ModelConfig& config_;
  const Weights& weights_;
  ThreadPool& pool_;
  std::size_t most_rows_;
  PassProfile* profile_;
  std::size_t rows_ = 0;  // of the current pass
  MatmulScratch scratch_;
  std::vector<Part> parts_;  // of the current pass
  std::vector<Product> products_;
  std::vector<float*> places_;              // where the logits go
  std::vector<float> inverse_frequencies_;  // [rope_dims / 2]
  // [most_rows, …]: the system gives the memory of the rows that passes have.
  std::unique_ptr<float[]> x_, normed_, q_, k_, v_, heads_, branch_, gate_, up_, cosines_, sines_;
  std::unique_ptr<float[]> logits_;  // [logit_rows_, vocabulary], before they go to several places
  std::size_t logit_rows_ = 0;
  std::unique_ptr<float[]> scores_;  // [threads, thread_scores_]
  std::size_t thread_scores_ = 0;
};

}  // namespace spectr
