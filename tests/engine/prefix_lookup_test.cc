// Lookup, sharing and eviction of cached prefixes, compared with a scan of all sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "spectr/engine/prefix_cache.h"
#include "spectr/lm/tabular_model.h"
#include "tests/support/blank_session.h"

namespace spectr {
namespace {

/// A session whose blocks have eight tokens. If it is recurrent, its rest has one byte for every 16 tokens,
/// and a saved sequence is restored from the last of the checkpoints that it was saved with.
class BlockSession final : public test::BlankSession {
 public:
  static constexpr std::size_t block_tokens = 8, grid = 16;

  BlockSession(BlockPool& pool, bool recurrent) : pool_(pool), recurrent_(recurrent) {}

  std::size_t copyable(std::size_t size) const override { return std::min(size, length()); }
  std::optional<SavedSequence> save(std::size_t size, std::span<const SharedBlock> shared) const override {
    SavedSequence saved{.length = size, .block_tokens = block_tokens, .block_bytes = pool_.block_bytes()};
    saved.blocks.assign(shared.begin(), shared.end());
    while (saved.blocks.size() * block_tokens < size) saved.blocks.push_back(pool_.take());
    if (recurrent_) saved.rest.resize(size / grid);
    return saved;
  }
  std::size_t restorable(const SavedSequence& saved, std::size_t size) const override {
    size = std::min(size, saved.length);
    if (!recurrent_ || size == saved.length) return size;
    const std::size_t first = saved.length / 3;  // earlier checkpoints were dropped
    const std::size_t checkpoint = size / grid * grid;
    return checkpoint < first ? 0 : checkpoint;
  }

 private:
  BlockPool& pool_;
  bool recurrent_;
};

/// The cache as a list that is scanned.
class ScannedCache {
 public:
  explicit ScannedCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Expects that the cache finds a sequence from which most of the prompt can be restored, and marks it as
  /// used.
  void expect_found(const PrefixCache::Found& found, const LanguageModel& model,
                    std::span<const Token> prompt, const Session& session) {
    std::size_t most = 0;
    for (const Entry& entry : entries_) most = std::max(most, restorable(entry, model, prompt, session));
    ASSERT_EQ(found.tokens, most);
    ASSERT_EQ(found.sequence == nullptr, most == 0);
    if (most == 0) return;
    const auto at = std::ranges::find(entries_, found.sequence.get(), &Entry::address);
    ASSERT_NE(at, entries_.end()) << "an evicted sequence";
    ASSERT_EQ(restorable(*at, model, prompt, session), most);
    entries_.splice(entries_.begin(), entries_, at);
  }

  bool has(const LanguageModel& model, std::span<const Token> tokens) const {
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
      const bool begins = entry.model == &model && common_beginning(entry.tokens, tokens) == tokens.size();
      return begins && (entry.rest == 0 || entry.tokens.size() == tokens.size());
    });
  }

  /// Adds a sequence that the cache has just saved. Expects that it shares all full blocks that it can.
  void add(const std::shared_ptr<const CachedSequence>& saved) {
    std::size_t common = 0;
    std::set<const void*> known;
    for (const Entry& entry : entries_) {
      if (entry.model != saved->model) continue;
      common = std::max(common, common_beginning(entry.tokens, saved->tokens));
      known.insert(entry.blocks.begin(), entry.blocks.end());
    }
    Entry added{saved, saved.get(), saved->model, saved->tokens, {}, saved->saved.rest.size()};
    for (const SharedBlock& block : saved->saved.blocks) added.blocks.push_back(block.data());
    for (std::size_t i = 0; i < common / BlockSession::block_tokens; ++i)
      EXPECT_TRUE(known.contains(added.blocks[i])) << "block " << i;
    std::erase_if(entries_, [&](const Entry& entry) {
      return entry.model == added.model && entry.rest == 0 &&
             common_beginning(entry.tokens, added.tokens) == entry.tokens.size();
    });
    entries_.push_front(std::move(added));
    while (bytes() > max_bytes_) {
      entries_.pop_back();
      ++evicted;
    }
  }

  std::size_t bytes() const {
    std::size_t bytes = 0;
    std::set<const void*> blocks;
    for (const Entry& entry : entries_) {
      bytes += entry.rest;
      blocks.insert(entry.blocks.begin(), entry.blocks.end());
    }
    return bytes + blocks.size() * block_bytes;
  }

  /// Returns the number of sequences that are still held by somebody, which is the cache.
  std::size_t alive() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.held.expired(); }));
  }
  std::size_t size() const { return entries_.size(); }

  static constexpr std::size_t block_bytes = 64;
  std::size_t evicted = 0;

 private:
  struct Entry {
    std::weak_ptr<const CachedSequence> held;
    const CachedSequence* address;
    const LanguageModel* model;
    std::vector<Token> tokens;
    std::vector<const void*> blocks;
    std::size_t rest;
  };

  static std::size_t restorable(const Entry& entry, const LanguageModel& model, std::span<const Token> prompt,
                                const Session& session) {
    const std::size_t common = common_beginning(entry.tokens, prompt);
    const auto held = entry.held.lock();
    return entry.model == &model && common > 0 && held ? session.restorable(held->saved, common) : 0;
  }

  std::size_t max_bytes_;
  std::list<Entry> entries_;  // most recently used first
};

class PrefixLookup : public testing::TestWithParam<bool> {
 protected:
  /// Returns a sequence of random tokens that continues a random part of an earlier one.
  std::vector<Token> sequence() {
    std::vector<Token> tokens;
    if (!earlier_.empty() && random_() % 8 != 0) {
      const std::vector<Token>& from = earlier_[random_() % earlier_.size()];
      tokens.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(random_() % (from.size() + 1)));
    }
    for (std::size_t more = random_() % 120; more > 0; --more)
      tokens.push_back(static_cast<Token>(random_() % 3));
    earlier_.push_back(tokens);
    return tokens;
  }

  std::mt19937 random_{11};
  std::vector<std::vector<Token>> earlier_;
};

TEST_P(PrefixLookup, FindsSharesAndEvictsLikeAScanOfAllSequences) {
  const TabularModel one = TabularModel::random(4, 1, random_), other = TabularModel::random(4, 1, random_);
  const LanguageModel* const models[] = {&one, &other};
  BlockPool pool(ScannedCache::block_bytes);
  constexpr std::size_t max_bytes = 300 * ScannedCache::block_bytes;
  PrefixCache cache(max_bytes);
  ScannedCache scanned(max_bytes);
  for (int step = 0; step < 4000; ++step) {
    BlockSession session(pool, GetParam());
    const LanguageModel& model = *models[random_() % 2];
    const std::vector<Token> tokens = sequence();
    if (random_() % 2 == 0) {
      session.advance(tokens.size());
      const bool adds = tokens.size() >= PrefixCache::worth_saving && !scanned.has(model, tokens);
      cache.save(model, tokens, session);
      if (adds) {
        const PrefixCache::Found saved = cache.find(model, tokens, session);
        ASSERT_TRUE(saved.sequence && saved.sequence->tokens == tokens) << "step " << step;
        scanned.add(saved.sequence);
      }
    }
    scanned.expect_found(cache.find(model, tokens, session), model, tokens, session);
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    ASSERT_EQ(scanned.alive(), scanned.size()) << "step " << step;
    ASSERT_EQ(cache.bytes(), scanned.bytes()) << "step " << step;
  }
  EXPECT_GT(scanned.evicted, 100U);
  EXPECT_GT(scanned.size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Sessions, PrefixLookup, testing::Bool(), [](const auto& recurrent) {
  return recurrent.param ? "WithCheckpoints" : "WithKeysOnly";
});

}  // namespace
}  // namespace spectr
