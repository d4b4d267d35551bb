#include "spectr/model/shared_passes.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include "spectr/base/check.h"

namespace spectr {

/// What a waiting thread wants to have computed.
struct SharedPasses::Wish {
  SharedSession& session;
  std::span<const Token> text;
  const TokenTree& tree;
  bool complete = false;  // with the rows of the running pass
  bool done = false;
  std::exception_ptr failure = nullptr;
};

Result<void> SharedSession::compute(std::span<const Token> text, const TokenTree& tree) {
  return passes_.score(*this, text, tree);
}

SharedPasses::SharedPasses(std::span<const Transformer* const> models, std::size_t texts, std::size_t nodes)
    : texts_(texts), nodes_(nodes) {
  const std::size_t rows = texts * TransformerText::most_rows(nodes);
  for (const Transformer* model : models) {
    models_.push_back(std::make_unique<Model>(*model, rows));
    if (texts > 1) models_.back()->pass.make_room_for_logits(texts * nodes);
  }
  rows_.reserve(rows);
  wishes_.reserve(texts);
  served_.reserve(texts);
}

std::unique_ptr<SharedSession> SharedPasses::start(const Transformer& model, std::size_t context) {
  return std::make_unique<SharedSession>(model, context, nodes_, *this);
}

SharedPasses::Seat::Seat(SharedPasses& passes) : passes_(passes) {
  const std::lock_guard lock(passes_.mutex_);
  SPECTR_CHECK(passes_.seats_ < passes_.texts_);
  ++passes_.seats_;
}

SharedPasses::Seat::~Seat() {
  const std::lock_guard lock(passes_.mutex_);
  --passes_.seats_;
  passes_.changed_.notify_all();  // the others may have waited for this one only
}

Result<void> SharedPasses::score(SharedSession& session, std::span<const Token> text, const TokenTree& tree) {
  Wish wish{session, text, tree};
  std::unique_lock lock(mutex_);
  SPECTR_CHECK(wishes_.size() < seats_);
  wishes_.push_back(&wish);
  while (!wish.done) {
    if (!running_ && wishes_.size() == seats_) {
      run_pass(lock);
    } else {
      changed_.wait(lock);
    }
  }
  if (wish.failure) std::rethrow_exception(wish.failure);
  if (session.given_up()) return error("the text was given up");
  return {};
}

/// The first model that somebody waits for, the one whose turn it was last.
SharedPasses::Model* SharedPasses::next_model() {
  Model* last = nullptr;
  for (const auto& model : models_) {
    const auto is_waited_for = [&model](const Wish* wish) { return &wish->session.model() == &model->model; };
    if (std::ranges::none_of(wishes_, is_waited_for)) continue;
    if (model.get() != of_pieces_) return model.get();
    last = model.get();
  }
  return last;
}

void SharedPasses::run_pass(std::unique_lock<std::mutex>& lock) {
  for (Wish* wish : wishes_) wish->done = wish->session.given_up();
  std::erase_if(wishes_, [](const Wish* wish) { return wish->done; });

  if (Model* model = next_model()) {
    running_ = true;
    served_.clear();
    std::ranges::copy_if(wishes_, std::back_inserter(served_),
                         [model](const Wish* wish) { return &wish->session.model() == &model->model; });
    lock.unlock();
    std::exception_ptr failure;
    rows_.clear();
    try {
      for (Wish* wish : served_) wish->complete = wish->session.plan(wish->text, wish->tree, rows_);
      if (!rows_.empty()) model->pass.run(rows_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    running_ = false;
    if (!failure && !rows_.empty()) {
      ++model->counts.passes;
      model->counts.rows += rows_.size();
      model->counts.texts += served_.size();
    }
    for (Wish* wish : served_) {
      wish->failure = failure;
      wish->done = wish->complete || failure;
    }
    of_pieces_ = std::ranges::any_of(served_, &Wish::done) ? nullptr : model;
    std::erase_if(wishes_, [](const Wish* wish) { return wish->done; });
  }
  changed_.notify_all();
}

std::size_t SharedPasses::waiting() const {
  const std::lock_guard lock(mutex_);
  return wishes_.size();
}

std::vector<PassCounts> SharedPasses::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<PassCounts> all;
  for (const auto& model : models_) all.push_back(model->counts);
  return all;
}

}  // namespace spectr
