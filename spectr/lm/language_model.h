#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/block_pool.h"
#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/lm/features.h"
#include "spectr/lm/token_tree.h"

namespace spectr {

/// The computed state of a sequence prefix. Its blocks are shared with sessions and with other saved
/// sequences that have a common prefix.
struct SavedSequence {
  std::size_t length = 0;                ///< number of tokens
  std::size_t block_tokens = 0;          ///< tokens per block; the last block may have fewer
  std::size_t block_bytes = 0;           ///< size of each block
  std::vector<SharedBlock> blocks = {};  ///< per-token state of a session; read-only
  /// State of the sequence as a whole: latest tokens of sliding-window layers, recurrent states. Empty if the
  /// blocks hold all state.
  std::vector<std::byte> rest = {};

  std::size_t bytes() const { return rest.size() + blocks.size() * block_bytes; }
};

/// The state of one sequence in one model: its KV cache, and the tree that is being scored.
///
/// A session holds the KV cache of a prefix of the sequence. `score` computes the missing part of sequence
/// and tree in one batched pass; `keep` commits the accepted path without computing it again.
class Session {
 public:
  virtual ~Session() = default;

  /// Makes logits(n) available for every node n of `tree` that did not have them yet. Can be called again
  /// with the same sequence after the tree has grown; only new nodes are computed. Requires: `text`, the
  /// sequence, is not empty, its last token is the tree's root, and the last call's sequence is a prefix of
  /// it (otherwise call `rewind` first). Fails if sequence and tree exceed the context or have an unknown
  /// token. Throws std::bad_alloc, which leaves the sequence unchanged and discards the tree.
  virtual Result<void> score(std::span<const Token> text, const TokenTree& tree) = 0;

  /// Returns the logits after the path to `node`, valid until the next score, keep or rewind. Requires: the
  /// node was scored since the last keep or rewind.
  virtual Logits logits(NodeId node) const = 0;

  /// Appends the nodes of `path` (from the root, which is excluded, downwards) to the sequence and discards
  /// all others. The next score must pass a sequence that begins with the old one and these tokens. The path
  /// may end in nodes that were not scored here; they are computed then. Requires: each node of `path` is the
  /// parent of the next one in the tree that was scored last.
  virtual void keep(std::span<const NodeId> path) = 0;

  /// Rolls back to the first `length` tokens of the sequence and discards the tree. A model that keeps only
  /// part of the state may have to roll back further: length() returns what is left.
  virtual void rewind(std::size_t length) = 0;

  /// Returns how many of the first `length` tokens another session of the model can take over with copy().
  /// The default is 0.
  virtual std::size_t copyable(std::size_t /*length*/) const { return 0; }
  /// Replaces the sequence by the first `length` tokens of the one in `other`, as if they had been computed
  /// here, and discards the tree. `other` is unchanged and must not be used concurrently. Requires: `other`
  /// is a session of the same model with the same limits; length ≤ other.copyable(length); both sequences
  /// begin with the same tokens. Throws std::bad_alloc, which leaves this session either unchanged or
  /// empty.
  virtual void copy(const Session& /*other*/, std::size_t /*length*/) {}

  /// Saves the first `length` tokens of the sequence. Full blocks are shared, and the session copies a shared
  /// block before writing to it; all other state is copied. `shared` holds the first full blocks of a saved
  /// sequence with the same prefix, which are used instead of the session's own. Returns nothing if the model
  /// does not support saving. Throws std::bad_alloc. Requires: length ≤ copyable(length).
  virtual std::optional<SavedSequence> save(std::size_t /*length*/,
                                            std::span<const SharedBlock> /*shared*/ = {}) const {
    return std::nullopt;
  }
  /// Returns how many of the first `length` tokens of a saved sequence restore() can restore: 0 unless it was
  /// saved by a session of the same model with the same limits.
  virtual std::size_t restorable(const SavedSequence& /*saved*/, std::size_t /*length*/) const { return 0; }
  /// Replaces the sequence by the first `length` tokens of a saved one, as if they had been computed here,
  /// and discards the tree. Returns false, with an empty sequence, if the saved one is damaged. Requires:
  /// length ≤ restorable(saved, length). Throws std::bad_alloc, which leaves the sequence empty.
  virtual bool restore(const SavedSequence& /*saved*/, std::size_t /*length*/) { return false; }

  /// Returns the features of this session's tokens for trained drafters, or null if the model has none.
  virtual Features* features() { return nullptr; }
  /// Returns the maximum number of tokens that the session can draft after a sequence, whatever its context.
  virtual std::size_t max_depth() const { return std::numeric_limits<std::size_t>::max(); }

  /// Returns a name of the model for error messages: its file, if it has one.
  virtual std::string_view name() const = 0;
  /// Returns the number of tokens of the sequence in the KV cache.
  virtual std::size_t length() const = 0;
  /// Returns V. Sequences and trees have tokens below V, and rows of logits have length V.
  virtual std::size_t vocabulary() const = 0;
  /// Returns the maximum number of tokens of sequence and path together.
  virtual std::size_t context() const = 0;
};

/// A pending scoring request for one sequence and its progress.
struct Scoring {
  Session* session;
  std::span<const Token> text;
  const TokenTree* tree;
  /// Maximum tokens of the sequence per pass, ≥ 1; a pass takes at most LanguageModel::piece().
  std::size_t max_piece = std::numeric_limits<std::size_t>::max();

  bool complete = false;                 ///< success: the state is as after session->score(text, *tree)
  Result<void> result = {};              ///< the error that ended it
  std::exception_ptr failure = nullptr;  ///< the exception that ended it, such as std::bad_alloc

  bool is_over() const { return complete || !result || failure != nullptr; }
};

/// A model that provides the distribution of the next token: a transformer or, for theory, a table.
///
/// Each session must be used by one thread at a time. Sessions of one model, or of models that share their
/// threads, can be used concurrently; their passes then run one after another.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// Returns its name, suitable for one line of output.
  virtual std::string_view name() const = 0;
  /// Returns V, the length of rows of logits.
  virtual std::size_t vocabulary() const = 0;
  /// Returns the maximum sequence length, or the largest std::size_t if there is no limit.
  virtual std::size_t context() const = 0;

  /// Creates a session for a sequence of at most `context` tokens (0: the model's limit) and trees of at most
  /// `nodes` nodes. The model must outlive it. Fails if that exceeds the model's limit or memory.
  virtual Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const = 0;

  /// Returns the maximum number of tokens of a sequence per pass; the default is no limit.
  virtual std::size_t piece() const { return std::numeric_limits<std::size_t>::max(); }

  /// Runs one pass for several sequences (continuous batching). It takes as much of every unfinished scoring
  /// as fits: the end of a sequence and its tree, or a piece of a long sequence. Results of a scoring do not
  /// depend on the others in the batch, and an error ends only its own scoring. Call it until all are over.
  /// Returns the number of rows computed. Requires: different sessions of this model, and the preconditions
  /// of Session::score for each. The default implementation scores them one after another.
  virtual std::size_t score_together(std::span<Scoring> scorings) const;

  /// Measures the attention cost: the additional seconds per row and attended token, from passes of `rows`
  /// rows after `depth` tokens and after one token. Takes at most several seconds. Requires: 1 ≤ rows ≤
  /// vocabulary, 1 ≤ depth < context. The default returns 0: the length makes no difference.
  virtual Result<double> attention_seconds(std::size_t rows, std::size_t depth) const;
};

}  // namespace spectr
