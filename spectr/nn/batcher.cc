#include "spectr/nn/batcher.h"

#include <algorithm>
#include <exception>
#include <new>

#include "spectr/base/check.h"

namespace spectr {
namespace {

// Texts of so many tokens grow without asking for memory.
constexpr std::size_t longest_kept_ready = std::size_t{1} << 16;

}  // namespace

/// What a waiting thread wants to have computed.
struct Batcher::Request {
  BatchedSession& session;
  Scoring scoring;
  bool done = false;
};

BatchedSession::BatchedSession(std::unique_ptr<Session> session, const LanguageModel& model, Batcher& batcher)
    : session_(std::move(session)), model_(model), batcher_(batcher) {
  text_.reserve(std::min(session_->context(), longest_kept_ready));
  const std::lock_guard lock(batcher_.mutex_);
  batcher_.sessions_.push_back(this);
}

BatchedSession::~BatchedSession() {
  const std::lock_guard lock(batcher_.mutex_);
  std::erase(batcher_.sessions_, this);
}

void BatchedSession::begin(std::size_t length, Sharing sharing) {
  rewind(length);
  sharing_ = sharing;
  copied_ = 0;
}

void BatchedSession::end(std::span<const Token> text) {
  text_.assign(text.begin(), text.end());
  session_->keep({});
}

std::span<const Token> BatchedSession::known() const {
  return std::span(text_).first(std::min(text_.size(), session_->length()));
}

void BatchedSession::rewind(std::size_t length) {
  session_->rewind(length);
  text_.resize(std::min(text_.size(), session_->length()));
}

Result<void> BatchedSession::score(std::span<const Token> text, const TokenTree& tree) {
  text_.insert(text_.end(), text.begin() + static_cast<std::ptrdiff_t>(text_.size()), text.end());
  return batcher_.score(*this, text, tree);
}

Batcher::Batcher(std::span<const LanguageModel* const> models, std::size_t sequences, std::size_t nodes)
    : sequences_(sequences), nodes_(nodes) {
  for (const LanguageModel* model : models) models_.push_back({*model});
  requests_.reserve(sequences);
  served_.reserve(sequences);
  scorings_.reserve(sequences);
}

Result<std::unique_ptr<BatchedSession>> Batcher::start(const LanguageModel& model, std::size_t context) {
  SPECTR_TRY(std::unique_ptr<Session> session, model.start(context, nodes_));
  return std::unique_ptr<BatchedSession>(new BatchedSession(std::move(session), model, *this));
}

Batcher::ActiveSequence::ActiveSequence(Batcher& batcher) : batcher_(batcher) {
  const std::lock_guard lock(batcher_.mutex_);
  SPECTR_CHECK(batcher_.active_ < batcher_.sequences_);
  ++batcher_.active_;
}

Batcher::ActiveSequence::~ActiveSequence() {
  const std::lock_guard lock(batcher_.mutex_);
  --batcher_.active_;
  batcher_.changed_.notify_all();  // the others may have waited for this one only
}

Result<void> Batcher::score(BatchedSession& session, std::span<const Token> text, const TokenTree& tree) {
  Request request{session, {session.session_.get(), text, &tree}};
  const std::size_t before = session.length();
  std::unique_lock lock(mutex_);
  SPECTR_CHECK(requests_.size() < active_);
  requests_.push_back(&request);
  while (!request.done) {
    if (!running_ && requests_.size() == active_) {
      run_pass(lock);
    } else {
      changed_.wait(lock);
    }
  }
  lock.unlock();
  if (request.scoring.failure) {
    session.rewind(before);
    std::rethrow_exception(request.scoring.failure);
  }
  if (!request.scoring.result) return request.scoring.result;
  if (session.cancelled()) return error("the request was cancelled");
  return {};
}

/// The first model that somebody waits for; the one that ran pieces alone last comes after the others.
Batcher::Model* Batcher::next_model() {
  Model* last = nullptr;
  for (Model& model : models_) {
    const auto waits_for_it = [&model](const Request* request) {
      return &request->session.model_ == &model.model;
    };
    if (std::ranges::none_of(requests_, waits_for_it)) continue;
    if (&model != of_pieces_) return &model;
    last = &model;
  }
  return last;
}

/// Copies what another sequence has of the request's text and its own does not, unless one that is ahead is
/// about to compute still more of it: true then. Ahead is who has more of its text, of equals who asked
/// first; so somebody is ahead of all others, and no two wait for each other. All threads that use sessions
/// wait meanwhile.
bool Batcher::waits_for_beginning(std::size_t asked) {
  BatchedSession& own = requests_[asked]->session;
  const std::size_t length = own.length(), needed = length + worth_copying;
  if (own.text_.size() <= needed) return false;
  const auto before_last = std::span(own.text_).first(own.text_.size() - 1);  // whose logits are wanted
  const auto can_give = [&](const BatchedSession& other) {
    const bool shares = own.sharing_.all || (own.sharing_.group != 0 && own.sharing_.group == other.group());
    return shares && &other != &own && &other.model_ == &own.model_ && other.context() == own.context();
  };

  std::size_t there = 0, coming = 0;
  const BatchedSession* source = nullptr;
  for (const BatchedSession* other : sessions_) {
    if (!can_give(*other)) continue;
    const std::size_t had = other->copyable(common_beginning(before_last, other->text_));
    if (had <= there) continue;
    there = had;
    source = other;
  }
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const BatchedSession& other = requests_[i]->session;
    const bool is_ahead = other.length() > length || (other.length() == length && i < asked);
    if (!can_give(other) || !is_ahead) continue;
    const std::size_t common = common_beginning(before_last, other.text_);
    if (other.length() < common) coming = std::max(coming, common);
  }
  if (coming > there && coming >= needed) return true;
  if (there < needed) return false;
  try {
    own.session_->copy(*source->session_, there);
    own.copied_ += there - length;
  } catch (const std::bad_alloc&) {
    return false;  // then it is computed
  }
  return false;
}

void Batcher::run_pass(std::unique_lock<std::mutex>& lock) {
  for (Request* request : requests_) request->done = request->session.cancelled();
  std::erase_if(requests_, [](const Request* request) { return request->done; });

  if (Model* model = next_model()) {
    running_ = true;
    served_.clear();
    scorings_.clear();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (&requests_[i]->session.model_ != &model->model) continue;
      if (!waits_for_beginning(i)) served_.push_back(requests_[i]);
    }
    for (const Request* request : served_) scorings_.push_back(request->scoring);
    lock.unlock();
    std::size_t rows = 0;
    try {
      rows = model->model.score_together(scorings_);
    } catch (...) {
      for (Scoring& scoring : scorings_) scoring.failure = std::current_exception();
    }
    lock.lock();
    running_ = false;
    if (rows > 0) {
      ++model->counts.passes;
      model->counts.rows += rows;
      model->counts.sequences += served_.size();
    }
    for (std::size_t i = 0; i < served_.size(); ++i) {
      served_[i]->scoring = std::move(scorings_[i]);
      served_[i]->done = served_[i]->scoring.is_over();
      const BatchedSession& session = served_[i]->session;
      if (!served_[i]->done && session.report_) session.report_(session.length());
    }
    of_pieces_ = std::ranges::any_of(served_, &Request::done) ? nullptr : model;
    std::erase_if(requests_, [](const Request* request) { return request->done; });
  }
  changed_.notify_all();
}

std::size_t Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return requests_.size();
}

std::vector<PassCounts> Batcher::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<PassCounts> all;
  for (const Model& model : models_) all.push_back(model.counts);
  return all;
}

}  // namespace spectr
