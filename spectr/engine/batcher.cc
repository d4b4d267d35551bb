#include "spectr/engine/batcher.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <ranges>

#include "spectr/base/check.h"

namespace spectr {
namespace {

// Sequences up to this many tokens grow without allocating memory.
constexpr std::size_t longest_kept_ready = std::size_t{1} << 16;

// A pass of this many rows is compute-bound: each further row takes about as long as these.
constexpr std::size_t many_rows = 16;

}  // namespace

/// A waiting thread's scoring request.
struct Batcher::Request {
  BatchedSession& session;
  Scoring scoring;
  Clock::time_point since;  // submitted, or last served by a pass that computed a chunk of it
  bool done = false;

  /// Returns the rows of the next pass: the rest of the text, or a chunk of it of at most `max_piece` tokens,
  /// and the tree after the end of the text.
  std::size_t rows(std::size_t max_piece = std::numeric_limits<std::size_t>::max()) const {
    const std::size_t left = scoring.text.size() - std::min(session.length(), scoring.text.size());
    const std::size_t piece = std::min({left, session.model_.piece(), max_piece});
    const auto nodes = static_cast<std::size_t>(scoring.tree->size());  // the root is the text's last token
    return std::max<std::size_t>(piece + (piece == left ? nodes - 1 : 0), 1);
  }
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
  const std::lock_guard lock(batcher_.mutex_);
  sharing_ = sharing;
  copied_ = 0;
  has_begun_ = false;
}

void BatchedSession::end(std::span<const Token> text) {
  const std::lock_guard lock(batcher_.mutex_);
  text_.assign(text.begin(), text.end());
  session_->keep({});
}

// Other sequences do not read a session whose text is empty, so its memory is filled without the lock.
bool BatchedSession::recall(std::span<const Token> tokens, const SavedSequence& saved, std::size_t length) {
  rewind(0);
  if (!session_->restore(saved, length)) return false;
  const std::lock_guard lock(batcher_.mutex_);
  text_.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(session_->length()));
  return true;
}

std::span<const Token> BatchedSession::known() const {
  if (text_.empty()) return {};
  return std::span(text_).first(std::min(text_.size(), session_->length()));
}

void BatchedSession::keep(std::span<const NodeId> path) {
  const std::lock_guard lock(batcher_.mutex_);
  session_->keep(path);
}

void BatchedSession::rewind(std::size_t length) {
  const std::lock_guard lock(batcher_.mutex_);
  session_->rewind(length);
  text_.resize(std::min(text_.size(), session_->length()));
}

Result<void> BatchedSession::score(std::span<const Token> text, const TokenTree& tree) {
  return batcher_.score(*this, text, tree);
}

Batcher::Batcher(std::span<const LanguageModel* const> models, std::size_t sequences, PassPolicy policy)
    : sequences_(sequences), policy_(policy) {
  for (const LanguageModel* model : models) models_.push_back({*model});
  requests_.reserve(sequences);
  served_.reserve(sequences);
  prompts_.reserve(sequences);
  scorings_.reserve(sequences);
}

Result<std::unique_ptr<BatchedSession>> Batcher::start(const LanguageModel& model, std::size_t context,
                                                       std::size_t nodes) {
  SPECTR_TRY(std::unique_ptr<Session> session, model.start(context, nodes));
  return adopt(std::move(session), model);
}

std::unique_ptr<BatchedSession> Batcher::adopt(std::unique_ptr<Session> session, const LanguageModel& model) {
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
  batcher_.changed_.notify_all();  // others may have waited for this one only
}

Result<void> Batcher::score(BatchedSession& session, std::span<const Token> text, const TokenTree& tree) {
  Request request{session, {session.session_.get(), text, &tree}, Clock::now()};
  const std::size_t before = session.length();
  std::unique_lock lock(mutex_);
  session.text_.insert(session.text_.end(), text.begin() + static_cast<std::ptrdiff_t>(session.text_.size()),
                       text.end());
  SPECTR_CHECK(requests_.size() < active_);
  requests_.push_back(&request);
  for (;;) {
    if (!running_) drop_cancelled();
    if (request.done) break;
    Model* const model = running_ ? nullptr : next_model(Clock::now());
    if (model != nullptr) {
      run_pass(lock, *model);
      continue;
    }
    const auto due = running_ ? std::nullopt : next_due();
    if (due) {
      changed_.wait_until(lock, *due);
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
  if (session.cancelled()) return error(ErrorCode::cancelled, "the request was cancelled");
  return {};
}

/// Completes the requests of cancelled sequences.
void Batcher::drop_cancelled() {
  for (Request* request : requests_) request->done = request->session.cancelled();
  if (std::erase_if(requests_, [](const Request* request) { return request->done; }) > 0)
    changed_.notify_all();
}

/// Returns when the model's waiters have waited long enough; none if it has none or waits for all others.
std::optional<Batcher::Clock::time_point> Batcher::due(const Model& model) const {
  std::size_t waiting = 0;
  Clock::time_point first = Clock::time_point::max();
  for (const Request* request : requests_) {
    if (&request->session.model_ != &model.model) continue;
    ++waiting;
    first = std::min(first, request->since);
  }
  if (waiting == 0) return std::nullopt;
  const double share = std::min(1.0, static_cast<double>(active_ - waiting) / static_cast<double>(waiting));
  if (share == 0.0) return first;
  if (std::isinf(policy_.patience)) return std::nullopt;
  const std::chrono::duration<double> wait = model.last_pass * (policy_.patience * share);
  return first + std::chrono::duration_cast<Clock::duration>(wait);
}

/// Returns the model whose pass begins now: the most expensive one whose pass is due or, if all sequences
/// wait, the cheapest one with waiters. The model that last ran only chunks comes after the others.
Batcher::Model* Batcher::next_model(Clock::time_point now) {
  Model *overdue = nullptr, *last = nullptr;
  for (Model& model : models_ | std::views::reverse) {
    const auto at = due(model);
    if (!at || *at > now) continue;
    if (&model != last_prefill_only_) return &model;
    overdue = &model;
  }
  if (requests_.size() < active_) return overdue;
  for (Model& model : models_) {
    const auto waits_for_it = [&model](const Request* request) {
      return &request->session.model_ == &model.model;
    };
    if (std::ranges::none_of(requests_, waits_for_it)) continue;
    if (&model != last_prefill_only_) return &model;
    last = &model;
  }
  return last;
}

/// Returns the earliest time at which a pass will be due.
std::optional<Batcher::Clock::time_point> Batcher::next_due() const {
  std::optional<Clock::time_point> next;
  for (const Model& model : models_) {
    if (const auto at = due(model)) next = next ? std::min(*next, *at) : at;
  }
  return next;
}

/// Copies what another sequence has of the request's text and its own does not. Returns true instead if the
/// request has to wait, because another one is about to compute still more of it and goes first: the one with
/// the longer computed sequence; ties are broken by arrival. This order is total, so no two requests wait for
/// each other. Other sessions are only read meanwhile; they are modified only under the lock.
bool Batcher::defer_to_shared_prefix(std::size_t asked) {
  BatchedSession& own = requests_[asked]->session;
  const std::size_t length = own.length(), needed = length + worth_copying;
  if (own.text_.size() <= needed) return false;
  // Features are not copied: a sequence that records those of all tokens computes all of them.
  const Features* features = own.session_->features();
  if (features != nullptr && features->recorded() == Features::Recorded::all) return false;
  const auto before_last = std::span(own.text_).first(own.text_.size() - 1);  // last one's logits are wanted
  const auto can_give = [&](const BatchedSession& other) {
    const bool shares = own.sharing_.all || (own.sharing_.group != 0 && own.sharing_.group == other.group());
    return shares && &other != &own && &other.model_ == &own.model_ && other.context() == own.context();
  };

  std::size_t there = 0, coming = 0;
  const BatchedSession* source = nullptr;
  for (const BatchedSession* other : sessions_) {
    if (!can_give(*other)) continue;
    const std::size_t common = common_beginning(before_last, other->text_);
    if (common <= there) continue;
    const std::size_t had = other->copyable(common);
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
    return false;  // it is computed instead
  }
  return false;
}

/// Returns the number of prompt rows allowed in a pass that has `rows` other rows.
std::size_t Batcher::room_for_prompts(const Model& model, std::size_t rows) const {
  const std::size_t max_rows = std::max<std::size_t>(policy_.max_rows, 1);
  const std::size_t room = std::max({max_rows - std::min(rows, max_rows), max_rows / 8, std::size_t{1}});
  if (rows == 0 || !(model.row_seconds > 0.0)) return room;
  const double in_time = policy_.max_seconds / model.row_seconds - static_cast<double>(rows);
  if (in_time >= static_cast<double>(room)) return room;
  return static_cast<std::size_t>(std::max(in_time, 1.0));
}

/// Collects the requests that the model's next pass serves in served_.
void Batcher::choose_served(const Model& model) {
  served_.clear();
  prompts_.clear();
  std::size_t rows = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    Request* request = requests_[i];
    if (&request->session.model_ != &model.model || defer_to_shared_prefix(i)) continue;
    if (request->session.has_begun_) {
      served_.push_back(request);
      rows += request->rows();
    } else {
      prompts_.push_back(request);
    }
  }
  std::ranges::sort(prompts_, {}, [](const Request* prompt) {
    return std::pair(prompt->session.last_served_, prompt->since);
  });
  std::size_t room = room_for_prompts(model, rows);
  for (Request* prompt : prompts_) {
    if (prompt != prompts_.front() && prompt->rows() > room) break;
    prompt->scoring.max_piece = room;
    served_.push_back(prompt);
    room -= std::min(room, prompt->rows(room));
  }
}

void Batcher::run_pass(std::unique_lock<std::mutex>& lock, Model& model) {
  running_ = true;
  choose_served(model);
  scorings_.clear();
  std::size_t drafted = 0;
  for (const Request* request : served_) {
    scorings_.push_back(request->scoring);
    if (request->session.has_begun_) drafted += static_cast<std::size_t>(request->scoring.tree->size()) - 1;
  }
  lock.unlock();
  const Clock::time_point begun = Clock::now();
  std::size_t rows = 0;
  try {
    rows = model.model.score_together(scorings_);
  } catch (...) {
    for (Scoring& scoring : scorings_) scoring.failure = std::current_exception();
  }
  const Clock::time_point ended = Clock::now();
  lock.lock();
  running_ = false;
  ++passes_;
  if (rows > 0) {
    ++model.counts.passes;
    model.counts.rows += rows;
    model.counts.by_rows.add(static_cast<double>(rows));
    model.counts.by_drafted.add(static_cast<double>(drafted) / static_cast<double>(rows));
    model.counts.sequences += served_.size();
    model.last_pass = ended - begun;
    const double seconds = std::chrono::duration<double>(model.last_pass).count();
    if (rows >= many_rows) model.row_seconds = seconds / static_cast<double>(rows);
  }
  for (std::size_t i = 0; i < served_.size(); ++i) {
    Request& request = *served_[i];
    BatchedSession& session = request.session;
    request.scoring = std::move(scorings_[i]);
    request.done = request.scoring.is_over();
    request.since = ended;
    session.last_served_ = passes_;
    if (request.done) session.has_begun_ = true;
    if (!request.done && session.report_) session.report_(session.length());
  }
  last_prefill_only_ = std::ranges::any_of(served_, &Request::done) ? nullptr : &model;
  std::erase_if(requests_, [](const Request* request) { return request->done; });
  changed_.notify_all();
}

void Batcher::set_max_rows(std::size_t rows) {
  const std::lock_guard lock(mutex_);
  policy_.max_rows = rows;
}

std::size_t Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return requests_.size();
}

std::vector<PassCounts> Batcher::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<PassCounts> all;
  for (const Model& model : models_) {
    PassCounts& counts = all.emplace_back(model.counts);
    for (const BatchedSession* session : sessions_) {
      if (&session->model_ != &model.model) continue;
      counts.held += session->text_.size();
      counts.room += session->context();
    }
  }
  return all;
}

}  // namespace spectr
