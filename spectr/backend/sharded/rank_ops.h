#pragma once

#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/check.h"
#include "spectr/nn/forwarding_ops.h"

namespace spectr {

/// A rank's operations on its part of a model: a decorator over those of any backend that computes with
/// floats of the host (Ops::numbers). Where a block's output is a sum over ranks (model_part.h), and for the
/// embedding, it is summed before anything reads it. Once the communicator has failed, passes go on with what
/// is there and end with its error.
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
  /// What the communicator gives; its first error is kept. Missing memory is one: ranks are out of step then.
  template <class Call>
  auto attempt(const Call& call) -> decltype(call()) {
    if (failure_) return std::unexpected(*failure_);
    try {
      auto result = call();
      if (!result) failure_ = result.error();
      return result;
    } catch (const std::bad_alloc&) {
      failure_ = Error{"no memory"};
      return std::unexpected(*failure_);
    }
  }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void sum(Buffer buffer) {
    const std::span<float> summands = numbers(buffer);
    SPECTR_CHECK(!summands.empty());
    (void)attempt([&] { return communicator_.all_reduce_sum(summands); });
  }

  Communicator& communicator_;
  std::optional<Error> failure_;
};

}  // namespace spectr
