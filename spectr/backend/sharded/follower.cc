#include "spectr/backend/sharded/follower.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/sharded/messages.h"
#include "spectr/backend/sharded/rank_ops.h"
#include "spectr/backend/sharded/rounds.h"
#include "spectr/backend/sharded/shared_logits.h"
#include "spectr/base/version.h"
#include "spectr/gguf/fingerprint.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/graph.h"
#include "spectr/nn/transformer.h"
#include "spectr/nn/weights.h"

namespace spectr {
namespace {

/// A rank's part of a model, with its copies of the leader's sequences and passes.
class Part {
 public:
  static Result<std::unique_ptr<Part>> load(Gguf file, const LoadOrder& order, const Backend& backend,
                                            Communicator& communicator, ThreadPool* pool) {
    SPECTR_TRY(ModelSpec spec, read_model_spec(file, order.rope));
    const KvTypes kv = order.kv.or_else(default_kv(spec));
    const RankOf who{communicator.rank(), communicator.ranks()};
    const Range tokens = part_of(spec.vocabulary, who);
    SPECTR_TRY_VOID(take_part(spec, who, order.split));
    SPECTR_TRY_VOID(check(spec, kv, backend.caps()));
    std::unique_ptr<Part> part(new Part(std::move(file), std::move(spec), tokens, communicator));
    try {
      SPECTR_TRY(std::unique_ptr<Ops> ops, backend.make(part->spec_, kv));
      part->ops_ = make_rank_ops(order.split, std::move(ops), part->link_);
      const Gguf* const files[] = {&part->file_};
      part->copies_ = upload_weights(files, part->spec_, *part->ops_, pool);
    } catch (const std::bad_alloc&) {
      return error(ErrorCode::out_of_memory, "{}: there is no memory for the weights", part->file_.name());
    }
    return part;
  }

  bool reserve(std::size_t rows) {
    try {
      ops_->reserve(rows);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  bool open(CacheId cache, const CacheSize& size) {
    caches_.resize(std::max<std::size_t>(caches_.size(), cache + 1));
    try {
      caches_[cache] = ops_->open_cache(size);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  void close(CacheId cache) {
    if (const auto mine = std::exchange(caches_[cache], std::nullopt)) ops_->close_cache(*mine);
  }

  Result<void> run(std::uint32_t place, PassBatch batch) {
    translate(batch);
    passes_.resize(std::max<std::size_t>(passes_.size(), place + 1));
    passes_[place] = {};
    SPECTR_TRY(passes_[place], run_pass(spec_, batch, *ops_));
    return {};
  }

  void copy(CacheCopy copy) {
    copy.from = *caches_[copy.from];
    copy.to = *caches_[copy.to];
    ops_->copy_cache(copy);
  }

  void move(PassBatch batch) {
    translate(batch);
    try {
      ops_->begin(batch);
    } catch (const std::bad_alloc&) {
      return;  // the moves are done
    }
  }

  std::vector<std::byte> answer(const Question& question) const {
    return answer_of(question, passes_[question.pass].row(question.row), tokens_);
  }

  RankTimes take_times() { return link_->take_times(); }

 private:
  Part(Gguf file, ModelSpec spec, Range tokens, Communicator& communicator)
      : file_(std::move(file)),
        spec_(std::move(spec)),
        tokens_(tokens),
        link_(std::make_shared<RankLink>(communicator)) {}

  /// Replaces the leader's cache ids by this rank's.
  void translate(PassBatch& batch) const {
    for (SlotMove& move : batch.moves) move.cache = *caches_[move.cache];
    for (CacheId& cache : batch.caches) cache = *caches_[cache];
    for (GridState& state : batch.states) state.cache = *caches_[state.cache];
  }

  Gguf file_;
  ModelSpec spec_;
  Range tokens_;  // tokens whose logits this rank has, if split by rows
  std::shared_ptr<RankLink> link_;
  std::vector<std::vector<std::byte>> copies_;
  std::unique_ptr<Ops> ops_;
  std::vector<std::optional<CacheId>> caches_;  // by the leader's id
  std::vector<HeldLogits> passes_;              // by the leader's slot
};

std::unexpected<Error> bad_message(const Communicator& communicator) {
  return error(ErrorCode::internal, "{}: an order of the leader makes no sense here",
               communicator.name_of(communicator.rank()));
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Result<Gguf> open_same(const LoadOrder& order, const std::function<Result<Gguf>()>& open) {
  if (order.build != build_identity()) return error("the program is of another build or byte order");
  SPECTR_TRY(Gguf file, open());
  if (fingerprint_of(file) != order.fingerprint)
    return error("{}: the file is of another model than the leader's", file.name());
  return file;
}

class Follower {
 public:
  Follower(Communicator& communicator, std::unique_ptr<Part> part)
      : communicator_(communicator), part_(std::move(part)) {}

  /// Serves messages until the model is closed.
  Result<void> run() {
    std::vector<std::byte> bytes;
    for (;;) {
      SPECTR_TRY_VOID(communicator_.broadcast(bytes));
      MessageReader in(bytes);
      Order order{};
      if (!in.get(order)) return bad_message(communicator_);
      if (order == Order::end) return {};
      if (!part_) return bad_message(communicator_);
      SPECTR_TRY_VOID(handle(order, in));
    }
  }

 private:
  Result<void> handle(Order order, MessageReader& in) {
    switch (order) {
      case Order::reserve:
        if (std::size_t rows = 0; in.get(rows)) return acknowledge(part_->reserve(rows));
        break;
      case Order::open_cache: {
        CacheId cache = 0;
        CacheSize size{};
        if (in.get(cache) && in.get(size)) return acknowledge(part_->open(cache, size));
        break;
      }
      case Order::close_cache:
        if (CacheId cache = 0; in.get(cache)) {
          part_->close(cache);
          return {};
        }
        break;
      case Order::copy_cache:
        if (CacheCopy copy{}; get_copy(in, copy)) {
          part_->copy(std::move(copy));
          return {};
        }
        break;
      case Order::move:
        if (PassBatch batch; get_batch(in, batch)) {
          part_->move(std::move(batch));
          return {};
        }
        break;
      case Order::pass: {
        std::uint32_t place = 0;
        PassBatch batch;
        if (in.get(place) && get_batch(in, batch)) return part_->run(place, std::move(batch));
        break;
      }
      case Order::ask:
        if (Question question{}; in.get(question)) return reply(part_->answer(question));
        break;
      case Order::answer:
        return reply({});
      case Order::times: {
        const RankTimes times = part_->take_times();
        return reply(std::as_bytes(std::span(&times, 1)));
      }
      case Order::sums:
        if (Rounds rounds{}; in.get(rounds)) return run_sums(communicator_, rounds);
        break;
      case Order::ring:
        if (Rounds rounds{}; in.get(rounds)) return run_ring(communicator_, rounds);
        break;
      case Order::load:
      case Order::end:
        break;
    }
    return bad_message(communicator_);
  }

  Result<void> acknowledge(bool could) {
    const std::byte answer{could};
    return reply(std::span(&answer, 1));
  }
  Result<void> reply(std::span<const std::byte> answer) {
    SPECTR_TRY([[maybe_unused]] const auto nothing, communicator_.gather(answer));
    return {};
  }

  Communicator& communicator_;
  std::unique_ptr<Part> part_;
};

}  // namespace

Result<bool> follow(Communicator& communicator, const Backend& backend,
                    const std::function<Result<Gguf>()>& open, ThreadPool* pool) {
  const auto answer = [&communicator](const std::string& failure) -> Result<void> {
    SPECTR_TRY([[maybe_unused]] const auto nothing,
               communicator.gather(bytes_of(failure), Patience::endless));
    return {};
  };
  std::vector<std::byte> bytes;
  SPECTR_TRY_VOID(communicator.broadcast(bytes));
  MessageReader in(bytes);
  Order order{};
  LoadOrder what{};
  if (!in.get(order)) return bad_message(communicator);
  if (order == Order::end) return false;
  if (order != Order::load || !in.get(what)) return bad_message(communicator);
  communicator.use_first(what.ranks);

  Result<Gguf> file = open_same(what, open);
  SPECTR_TRY_VOID(answer(file ? "" : file.error().message));
  SPECTR_TRY_VOID(communicator.broadcast(bytes));  // true if all ranks have the file
  if (!MessageReader(bytes).get(order)) return bad_message(communicator);
  if (order == Order::end) return true;
  if (order != Order::load || !file) return bad_message(communicator);

  Result<std::unique_ptr<Part>> part = Part::load(std::move(*file), what, backend, communicator, pool);
  SPECTR_TRY_VOID(answer(part ? "" : part.error().message));
  SPECTR_TRY_VOID(Follower(communicator, part ? std::move(*part) : nullptr).run());
  return true;
}

}  // namespace spectr
