#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/nn/forwarding_ops.h"

namespace spectr {

/// A rank's operations on its part of a model: a decorator over any backend's. Where a block's output is a
/// sum over ranks (model_part.h), and for the embedding, it is summed before anything reads it. Once the
/// communicator has failed, passes go on with what is there and end with its error.
class RankOps : public ForwardingOps {
 public:
  /// The communicator must outlive it.
  RankOps(std::unique_ptr<Ops> ops, Communicator& communicator)
      : ForwardingOps(std::move(ops)), communicator_(communicator) {}

  void embed(const EmbedSpec& spec) override {
    ForwardingOps::embed(spec);
    sum(Buffer::stream);
  }
  void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) override {
    ForwardingOps::linear(role, targets, in);
    if (role == LinearRole::attention_output || role == LinearRole::down) sum(targets.front().out);
  }
  std::size_t experts(const ExpertsSpec& spec, Buffer in) override {
    const std::size_t read = ForwardingOps::experts(spec, in);
    sum(Buffer::branch);
    return read;
  }
  Result<HeldLogits> finish() override {
    Result<HeldLogits> logits = ForwardingOps::finish();
    if (failure_) return std::unexpected(*failure_);
    return logits;
  }

 protected:
  Communicator& communicator() const { return communicator_; }
  /// Keeps the first error of what the communicator gives.
  template <class T>
  bool note(const Result<T>& result) {
    if (!result && !failure_) failure_ = result.error();
    return result.has_value();
  }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void sum(Buffer buffer) {
    if (!failure_) note(communicator_.all_reduce_sum(numbers(buffer)));
  }

  Communicator& communicator_;
  std::optional<Error> failure_;
};

}  // namespace spectr
