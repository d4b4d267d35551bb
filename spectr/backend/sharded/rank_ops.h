#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/rank_link.h"
#include "spectr/backend/sharded/split.h"
#include "spectr/base/check.h"
#include "spectr/nn/forwarding_ops.h"

namespace spectr {

/// A rank's operations on its part of a model. Decorates the operations of any backend whose buffers are
/// accessible as host floats (Ops::numbers).
class RankOps : public ForwardingOps {
 public:
  RankOps(std::unique_ptr<Ops> ops, std::shared_ptr<RankLink> link)
      : ForwardingOps(std::move(ops)), link_(std::move(link)) {}

  void begin(const PassBatch& batch) override {
    link_->begin_pass();
    ForwardingOps::begin(batch);
  }
  Result<HeldLogits> finish() override {
    Result<HeldLogits> logits = ForwardingOps::finish();
    link_->end_pass();
    if (link_->failure()) return std::unexpected(*link_->failure());
    return logits;
  }

 protected:
  RankLink& link() { return *link_; }

 private:
  std::shared_ptr<RankLink> link_;
};

/// Operations of a tensor-parallel rank (model_part.h). Outputs of the embedding and of blocks that are
/// partial sums are all-reduced before they are used.
class PartOps final : public RankOps {
 public:
  using RankOps::RankOps;

  void embed(const EmbedSpec& spec) override {
    RankOps::embed(spec);
    sum(Buffer::stream);
  }
  void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) override {
    RankOps::linear(role, targets, in);
    if (role == LinearRole::attention_output || role == LinearRole::down) sum(targets.front().out);
  }
  std::size_t experts(const ExpertsSpec& spec, Buffer in) override {
    const std::size_t read = RankOps::experts(spec, in);
    sum(Buffer::branch);
    return read;
  }

 private:
  void sum(Buffer buffer) {
    const std::span<float> summands = numbers(buffer);
    SPECTR_CHECK(!summands.empty());
    (void)link().attempt([&](Communicator& others) { return others.all_reduce_sum(summands); });
  }
};

/// Operations of a pipeline stage (model_stage.h). The stream is received from the previous rank and sent to
/// the next. The last rank sends the rows whose logits are wanted to the leader, which computes the head. If
/// a pass wants no logits (a prefill chunk), a rank is done once it has sent the stream, and the next pass
/// starts while later ranks still compute this one.
class StageOps final : public RankOps {
 public:
  using RankOps::RankOps;

  void begin(const PassBatch& batch) override {
    RankOps::begin(batch);
    batch_ = &batch;
  }
  void embed(const EmbedSpec& spec) override {
    if (is_leader()) return RankOps::embed(spec);
    exchange(
        [&](Communicator& others) { return others.receive(link().rank() - 1, numbers(Buffer::stream)); });
  }
  void head(const HeadSpec& spec) override {
    if (!is_last()) {
      exchange([&](Communicator& others) { return others.send(link().rank() + 1, numbers(Buffer::stream)); });
    } else if (!is_leader() && !batch_->wanted.empty()) {
      exchange([&](Communicator& others) { return give_wanted(others); });
    }
    if (!is_leader()) return;
    if (!is_last() && !batch_->wanted.empty())
      exchange([&](Communicator& others) { return take_wanted(others); });
    RankOps::head(spec);
  }

 private:
  bool is_leader() { return link().rank() == 0; }
  bool is_last() { return link().rank() + 1 == link().ranks(); }
  template <class Call>
  void exchange(const Call& call) {
    SPECTR_CHECK(!numbers(Buffer::stream).empty());
    (void)link().attempt(call);
  }

  std::span<float> row(std::int32_t index) {
    const std::span<float> stream = numbers(Buffer::stream);
    const std::size_t width = stream.size() / batch_->rows();
    return stream.subspan(static_cast<std::size_t>(index) * width, width);
  }
  Result<void> give_wanted(Communicator& others) {
    wanted_.clear();
    for (const std::int32_t index : batch_->wanted) {
      const std::span<const float> numbers = row(index);
      wanted_.insert(wanted_.end(), numbers.begin(), numbers.end());
    }
    return others.send(0, wanted_);
  }
  Result<void> take_wanted(Communicator& others) {
    const std::size_t width = row(0).size();
    wanted_.resize(batch_->wanted.size() * width);
    SPECTR_TRY_VOID(others.receive(link().ranks() - 1, wanted_));
    auto next = wanted_.begin();
    for (const std::int32_t index : batch_->wanted) {
      std::copy_n(next, width, row(index).begin());
      next += static_cast<std::ptrdiff_t>(width);
    }
    return {};
  }

  const PassBatch* batch_ = nullptr;
  std::vector<float> wanted_;  // wanted rows of the stream
};

/// Creates the operations of a rank's part, with its link to the other ranks.
inline std::unique_ptr<RankOps> make_rank_ops(Split split, std::unique_ptr<Ops> ops,
                                              std::shared_ptr<RankLink> link) {
  if (split == Split::rows) return std::make_unique<PartOps>(std::move(ops), std::move(link));
  return std::make_unique<StageOps>(std::move(ops), std::move(link));
}

}  // namespace spectr
