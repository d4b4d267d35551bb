#include "spectr/nn/transformer.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/graph.h"
#include "spectr/nn/pass_profile.h"
#include "spectr/nn/profiled_ops.h"
#include "spectr/nn/transformer_session.h"

namespace spectr {
// Keys and values that come from rounded weights are less exact than F16 is.
KvTypes default_kv(const ModelSpec& spec) {
  const auto is_f32 = [&spec](const LinearSpec& linear) {
    return spec.weight(linear.weight).type == TensorType::f32;
  };
  const bool exact = std::ranges::all_of(spec.layers, [&](const LayerSpec& layer) {
    const AttentionSpec* a = layer.attention();
    return a == nullptr || a->kv_from || (is_f32(a->k) && (a->latent || is_f32(a->v)));
  });
  const KvType type = exact ? KvType::f32 : KvType::f16;
  return {type, type};
}

namespace {

/// Adds taps to a spec for the states that a trained drafter reads, or for embeddings.
Result<void> add_taps(ModelSpec& spec, const TapSettings& settings, bool embeds) {
  const bool is_encoder = spec.bidirectional;
  if (!settings.taps.empty() && is_encoder) return check_generates(spec);
  if (!settings.taps.empty() && embeds) {
    return error(ErrorCode::unsupported, "{}: passes hand out either states for a drafter ({}) or embeddings",
                 spec.file, settings.source);
  }
  if (embeds && !is_encoder) spec.taps = {{spec.layers.size(), true}};
  if (settings.taps.empty()) return {};
  for (const TapSpec& tap : settings.taps) {
    if (tap.layer <= spec.layers.size()) continue;
    return error("{} has {}, but {} has {} layers", settings.source, tap.layer, spec.file,
                 spec.layers.size());
  }
  if (std::ranges::any_of(spec.layers, &LayerSpec::norms_stream)) {
    return error(ErrorCode::unsupported, "{}: general.architecture is {}: {} normalizes the stream itself",
                 spec.file, spec.architecture, settings.source);
  }
  spec.taps = settings.taps;
  for (TapSpec& tap : spec.taps)
    if (tap.normed) tap.layer = spec.layers.size();
  spec.requirements.push_back({Feature::taps, settings.source});
  return {};
}

}  // namespace

Transformer::Memory Transformer::memory_of(const ModelSpec& spec, const KvChoice& kv) {
  Memory memory{0, false, kv.keep_all};
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr) memory.is_recurrent = true;
    const std::size_t window = attention != nullptr ? attention->window : 0;
    std::size_t& shortest = memory.shortest_window;
    if (window > 0 && (shortest == 0 || window < shortest)) shortest = window;
  }
  return memory;
}

Transformer::Transformer(Gguf file, std::unique_ptr<const ModelSpec> spec, const KvTypes& kv,
                         const Memory& memory, std::shared_ptr<const Backend> backend,
                         std::unique_ptr<Ops> ops)
    : file_(std::move(file)),
      spec_(std::move(spec)),
      context_(spec_->context),
      kv_(kv),
      memory_(memory),
      backend_(std::move(backend)),
      ops_(std::move(ops)) {}

Transformer::~Transformer() = default;

Result<std::unique_ptr<Transformer>> Transformer::load(Gguf file, std::shared_ptr<const Backend> backend,
                                                       const LoadSettings& settings) {
  SPECTR_TRY(ModelSpec read, read_model_spec(file, settings.rope));
  SPECTR_TRY_VOID(slim(read, settings.slimming));
  SPECTR_TRY_VOID(add_taps(read, settings.taps, settings.embeds));
  const KvTypes types = settings.kv.or_else(default_kv(read));
  const Memory memory = memory_of(read, settings.kv);
  SPECTR_TRY_VOID(backend->take_part(read));
  auto spec = std::make_unique<const ModelSpec>(std::move(read));
  SPECTR_TRY_VOID(check(*spec, types, backend->caps()));
  const std::string name = file.name();
  const std::uint64_t bytes = file.tensor_bytes();
  try {
    SPECTR_TRY(std::unique_ptr<Ops> ops, backend->make(*spec, types));
    std::unique_ptr<Transformer> model(
        new Transformer(std::move(file), std::move(spec), types, memory, std::move(backend), std::move(ops)));
    const Gguf* const files[] = {&model->file_};
    model->copies_ = upload_weights(files, *model->spec_, *model->ops_, settings.pool, settings.progress);
    return model;
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::out_of_memory,
                 "{}: there is no memory for the weights, which take {} bytes in the file", name, bytes);
  }
}

Result<void> Transformer::extend_context(std::size_t context) {
  if (context > spec_->max_context) {
    return error("{}: the context of {} tokens exceeds the {} that the model has positions for", spec_->file,
                 context, spec_->max_context);
  }
  context_ = std::max(context_, context);
  return {};
}

std::size_t Transformer::weight_bytes() const {
  double bytes = 0.0;
  for_each_linear(*spec_, [&](const LinearSpec& linear, double share) {
    bytes += share * static_cast<double>(ops_->bytes_of(linear.weight));
  });
  return static_cast<std::size_t>(std::llround(bytes));
}

std::size_t Transformer::macs_per_token() const {
  double macs = 0.0;
  for_each_linear(*spec_, [&macs](const LinearSpec& linear, double share) {
    macs += share * static_cast<double>(linear.out * linear.in);
  });
  return static_cast<std::size_t>(std::llround(macs));
}

CacheSize Transformer::cache_size(std::size_t context, std::size_t nodes) const {
  const std::size_t slots = context + nodes;
  const std::size_t rows = KvSlots::max_rows(nodes);
  CacheSize size{slots, memory_.keeps_all ? slots : rows + KvSlots::spare_slots, context};
  if (memory_.is_recurrent) {
    size.recent = StateFrames::recent_slots(rows, nodes);
    size.frames = StateFrames::max_frames;
  }
  return size;
}

KeptSlots Transformer::kept_slots(std::size_t context, std::size_t nodes) const {
  const CacheSize size = cache_size(context, nodes);
  KeptSlots kept{memory_.shortest_window, size.kept};
  if (memory_.is_recurrent) kept.frames = FrameCounts{context, size.recent};
  return kept;
}

Result<std::unique_ptr<Session>> Transformer::start(std::size_t context, std::size_t nodes,
                                                    PassProfile* profile) const {
  if (context == 0) context = context_;
  nodes = std::max<std::size_t>(nodes, 1);
  if (context > context_) {
    return error("{}: the context of {} tokens exceeds the model's {}", spec_->file, context, context_);
  }
  try {
    return std::make_unique<TransformerSession>(*this, context, nodes, profile);
  } catch (const std::bad_alloc&) {
    return error(
        ErrorCode::out_of_memory,
        "{}: there is no memory for a text of {} tokens, whose keys and values take {} bytes (context_length "
        "is {}); give a smaller context",
        spec_->file, context, ops_->cache_bytes(cache_size(context, nodes)), spec_->context);
  }
}

/// One scoring's share of a pass.
struct Transformer::Planned {
  Scoring* scoring;
  TransformerSession* session;
  KvSlots::Plan plan;
  std::size_t length_before;
  std::size_t first_wanted;
  std::size_t first_row, end_row;
};

/// Adds a scoring's next rows to the batch. Returns false if the scoring has to wait for another pass.
bool Transformer::plan(Scoring& scoring, RecycledVector<Planned>& planned) const {
  auto& session = static_cast<TransformerSession&>(*scoring.session);
  SPECTR_CHECK(&session.model_ == this);
  if (scoring.result = session.check(scoring.text, *scoring.tree); !scoring.result) return true;
  try {
    ops_->reserve(batch_.rows() + KvSlots::max_rows(session.logits_.size()));
  } catch (const std::bad_alloc&) {
    if (!planned.empty()) return false;  // each session has reserved memory for itself alone
    throw;
  }
  const std::size_t before = session.length(), wanted = batch_.wanted.size(), row = batch_.rows();
  const ExtraTokens* extra_tokens = session.extra_tokens_.read(scoring.text);
  const KvSlots::Plan plan = session.slots_.plan(scoring.text, *scoring.tree, batch_, scoring.max_piece);
  if (extra_tokens != nullptr) batch_.extra_tokens.resize(batch_.wanted.size(), extra_tokens);
  planned.push_back({&scoring, &session, plan, before, wanted, row, batch_.rows()});
  return true;
}

/// Runs the batch, profiled if one of the sessions has a profile.
Result<HeldLogits> Transformer::run(std::span<const Planned> planned) const {
  if (batch_.rows() == 0) return HeldLogits();
  const auto profiled =
      std::ranges::find_if(planned, [](const Planned& one) { return one.session->profile_; });
  if (profiled == planned.end()) return run_pass(*spec_, batch_, *ops_);
  ProfiledOps ops(*ops_, *spec_, kv_, *profiled->session->profile_);
  return run_pass(*spec_, batch_, ops);
}

std::size_t Transformer::pass(std::span<Scoring> scorings) const {
  RecycledVector<Planned> planned;
  planned.reserve(scorings.size());
  batch_.clear();
  for (Scoring& scoring : scorings) {
    if (scoring.is_over()) continue;
    try {
      if (!plan(scoring, planned)) break;
    } catch (...) {
      scoring.failure = std::current_exception();
    }
  }

  const auto rewind_all = [&planned] {
    for (const Planned& one : planned) one.session->rewind(one.length_before);
  };
  Result<HeldLogits> logits;
  try {
    logits = run(planned);
  } catch (const std::bad_alloc&) {
    rewind_all();
    if (planned.size() == 1) {
      planned.front().scoring->failure = std::current_exception();
      return 0;
    }
    // There is too little memory for all together. Run each alone, so that only those too large fail.
    std::size_t rows = 0;
    for (const Planned& one : planned) rows += pass({one.scoring, 1});
    return rows;
  } catch (...) {
    rewind_all();
    for (const Planned& one : planned) one.scoring->failure = std::current_exception();
    return 0;
  }
  if (!logits) {
    rewind_all();
    for (const Planned& one : planned) one.scoring->result = std::unexpected(logits.error());
    return 0;
  }
  for (const Planned& one : planned) {
    one.session->take(*logits, one.first_wanted, one.plan.first_node);
    one.session->record(*logits, batch_, one.first_row, one.end_row, one.plan);
    one.scoring->complete = one.plan.complete;
  }
  return batch_.rows();
}

std::size_t Transformer::score_together(std::span<Scoring> scorings) const {
  const std::lock_guard lock(mutex_);
  return pass(scorings);
}

Result<HeldLogits> Transformer::run_drafter(const ModelSpec& drafter, const PassBatch& batch,
                                            Ops& ops) const {
  const std::lock_guard lock(mutex_);
  return run_pass(drafter, batch, ops);
}

Result<void> Transformer::check_alive() const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock ? ops_->check_alive() : Result<void>();
}

Result<double> Transformer::attention_seconds(std::size_t rows, std::size_t depth) const {
  return spectr::attention_seconds(*this, rows, depth);
}

}  // namespace spectr
