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

/// The beginning of a sequence as a session has computed it. It shares blocks with sessions and with other
/// sequences that begin alike.
struct SavedSequence {
  std::size_t length = 0;                ///< tokens
  std::size_t block_tokens = 0;          ///< tokens of a block; the last block may have fewer
  std::size_t block_bytes = 0;           ///< of each block
  std::vector<SharedBlock> blocks = {};  ///< what a session holds of each token; nobody writes to them
  /// What it holds of the sequence as a whole: latest tokens of layers with a window, recurrent states. Empty
  /// where the blocks are all.
  std::vector<std::byte> rest = {};

  std::size_t bytes() const { return rest.size() + blocks.size() * block_bytes; }
};

/// The state of one text in one model: what has been computed for it, and the tree that is being looked at.
///
/// A session keeps keys and values for a prefix of the text. `score` computes whatever is missing of
/// text + tree in one batched pass; `keep` turns the accepted path into text without computing it again.
class Session {
 public:
  virtual ~Session() = default;

  /// Makes logits(n) available for every node n of `tree` that did not have them yet. May be called again
  /// with the same text after the tree has grown: only the new nodes are computed. Requires: text is not
  /// empty, its last token is the tree's root, and the last call's text is a prefix of it (call `rewind`
  /// first otherwise). Error: text and tree exceed the context, or have a token that the model does not have.
  /// Throws std::bad_alloc where there is no memory; the text is as it was then, and the tree forgotten.
  virtual Result<void> score(std::span<const Token> text, const TokenTree& tree) = 0;

  /// The logits after the path to `node`; valid until the next score, keep or rewind. Requires: the node was
  /// scored since the last keep or rewind.
  virtual Logits logits(NodeId node) const = 0;

  /// The nodes of `path` (from the root, which is left out, downwards) become text; all others are dropped.
  /// The next call of score passes a text that begins with the old one and these tokens. Nodes that were not
  /// scored here may end the path; they are computed then. Requires: each node of `path` is the parent of the
  /// next in the tree that was scored last.
  virtual void keep(std::span<const NodeId> path) = 0;

  /// Forgets everything after the first `length` tokens of the text, and the tree. A model that keeps no more
  /// than a part of a text may have to forget more: length() says what is left.
  virtual void rewind(std::size_t length) = 0;

  /// How many of the text's first `length` tokens another session of the model can take over with copy().
  /// The default: none.
  virtual std::size_t copyable(std::size_t /*length*/) const { return 0; }
  /// The text becomes the first `length` tokens of the text in `other`, as if they had been computed here,
  /// and the tree is forgotten. `other` stays as it is, and nobody may use it meanwhile. Requires: a session
  /// of the same model for texts and trees of the same size; length ≤ other.copyable(length); the text here
  /// begins like the other. Throws std::bad_alloc; then nothing has changed,
  /// or the text is empty.
  virtual void copy(const Session& /*other*/, std::size_t /*length*/) {}

  /// Saves the first `length` tokens of the text. Full blocks are shared, and the session copies one only
  /// before it writes to it; the rest is copied. `shared`: the first full blocks of a saved sequence with the
  /// same beginning, which are taken instead of the session's own. None: sequences of this model cannot be
  /// saved. Throws std::bad_alloc. Requires: length ≤ copyable(length).
  virtual std::optional<SavedSequence> save(std::size_t /*length*/,
                                            std::span<const SharedBlock> /*shared*/ = {}) const {
    return std::nullopt;
  }
  /// How many of the first `length` tokens of a saved sequence restore() can bring back: 0 where it is not of
  /// a session of the same model for sequences and trees of the same size.
  virtual std::size_t restorable(const SavedSequence& /*saved*/, std::size_t /*length*/) const { return 0; }
  /// The text becomes the first `length` tokens of a saved one, as if they had been computed here, and the
  /// tree is forgotten. False: the saved sequence is damaged, and the text is empty. Requires: length ≤
  /// restorable(saved, length). Throws std::bad_alloc; the text is empty then.
  virtual bool restore(const SavedSequence& /*saved*/, std::size_t /*length*/) { return false; }

  /// The features of this session's tokens, which trained drafters read. Null: the model has none.
  virtual Features* features() { return nullptr; }
  /// Most tokens that the session can draft after a sequence, whatever its context.
  virtual std::size_t max_depth() const { return std::numeric_limits<std::size_t>::max(); }

  /// Of the model, for errors: its file, if it has one.
  virtual std::string_view name() const = 0;
  /// Tokens of the text whose keys and values are kept.
  virtual std::size_t length() const = 0;
  /// V of the model: texts and trees have tokens below it, rows of logits its length.
  virtual std::size_t vocabulary() const = 0;
  /// Most tokens that text and path may have.
  virtual std::size_t context() const = 0;
};

/// A request to score one sequence, and how far it has come.
struct Scoring {
  Session* session;
  std::span<const Token> text;
  const TokenTree* tree;
  /// Maximum tokens of the text that the next pass takes, ≥ 1; a pass takes LanguageModel::piece() at most.
  std::size_t max_piece = std::numeric_limits<std::size_t>::max();

  bool complete = false;                 ///< as after session->score(text, *tree)
  Result<void> result = {};              ///< the error that ended it
  std::exception_ptr failure = nullptr;  ///< the exception that ended it, of a lack of memory for instance

  bool is_over() const { return complete || !result || failure != nullptr; }
};

/// A model that gives the distribution of the next token: a transformer or, for theory, a table.
///
/// Sessions are used by one thread at a time each. Sessions of one model, and of models that share their
/// threads, may be used from several threads at once: their passes then follow one another.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// Its name, fit for a line of text.
  virtual std::string_view name() const = 0;
  /// V. Logits rows have this length.
  virtual std::size_t vocabulary() const = 0;
  /// Most tokens that a text may have; the largest std::size_t where nothing limits it.
  virtual std::size_t context() const = 0;

  /// A session for a text of at most `context` tokens (0: the model's own limit) and trees of at most `nodes`
  /// nodes. The model must outlive it. Error: a longer text than the model can have, or no memory for it.
  virtual Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const = 0;

  /// Most tokens of a text that one pass takes; the default: all.
  virtual std::size_t piece() const { return std::numeric_limits<std::size_t>::max(); }

  /// One pass for several sequences (continuous batching): as much of every scoring that is not over as a
  /// pass takes, the end of a text and its tree or a piece of a long text. What a scoring gives does not
  /// depend on those beside it, and what ends one does not end the others. Repeat it until all are over.
  /// Returns the rows computed. Requires: different sessions of this model; what Session::score says of each.
  /// The default scores them one after the other.
  virtual std::size_t score_together(std::span<Scoring> scorings) const;

  /// Seconds that a row of a pass takes longer for every token of the text that it attends to: the attention
  /// of passes of `rows` rows behind `depth` tokens against those behind one. Takes seconds at most.
  /// Requires: 1 ≤ rows ≤ vocabulary, 1 ≤ depth < context. The default says that length makes no difference.
  virtual Result<double> attention_seconds(std::size_t rows, std::size_t depth) const;
};

}  // namespace spectr
