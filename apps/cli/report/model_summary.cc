#include "apps/cli/report/model_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "spectr/base/thread_pool.h"
#include "spectr/engine/backends.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/nn/kv_slots.h"
#include "spectr/nn/transformer.h"
#include "spectr/text/tokenizer.h"
#include "spectr/text/vocabulary_match.h"

namespace spectr::cli {
namespace {

/// Formats a size in decimal units.
std::string size_of(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes * 1e-6) : fmt::format("{:.2f} GB", bytes * 1e-9);
}

/// Instantiates the model on the first backend. Fails if the backend lacks an operation that it needs.
Result<std::unique_ptr<Ops>> operations_of(const ModelSpec& spec, const KvTypes& types, ThreadPool& pool) {
  const auto backend = backends().front().make(pool);
  SPECTR_TRY_VOID(check(spec, types, backend->caps()));
  return backend->make(spec, types);
}

Result<std::string> describe_model(const Gguf& file) {
  SPECTR_TRY(const ModelSpec spec, read_model_spec(file));
  SPECTR_TRY(const auto tokenizer, Tokenizer::load(file));
  const KvTypes types = default_kv(spec);
  ThreadPool pool(1);
  SPECTR_TRY(const auto ops, operations_of(spec, types, pool));
  std::string out = fmt::format(
      "spectr runs this model: {} ({}), {} layers of width {}, {} tokens, context {}\n", spec.name,
      spec.architecture, spec.layers.size(), spec.width, spec.vocabulary, spec.context);
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "  memory: weights about {}", size_of(static_cast<double>(file.tensor_bytes())));
  for (const std::size_t context : {std::min<std::size_t>(spec.context, 4096), spec.context}) {
    const CacheSize size{context + 1, KvSlots::max_rows(1) + KvSlots::spare_slots};
    fmt::format_to(to, "; a text of {} tokens {}", context,
                   size_of(static_cast<double>(ops->cache_bytes(size))));
    if (context == spec.context) break;
  }
  fmt::format_to(to, " (keys {}, values {})\n", name_of(types.keys), name_of(types.values));
  fmt::format_to(to, "  drafts: {}\n", fitting_drafts(tokenizer->vocabulary()));
  for (const std::string& warning : tokenizer->vocabulary().warnings()) fmt::format_to(to, "  {}\n", warning);
  for (const std::string& note : spec.notes) fmt::format_to(to, "  note: {}\n", note);
  return out;
}

}  // namespace

std::string summary_of(const Gguf& file) {
  if (is_trained_drafter(file)) {
    return fmt::format(
        "spectr drafts with this file: -md gives it to the target that it was trained for, and spectr "
        "check-pair -m TARGET -md {} compares the two\n",
        file.name());
  }
  const auto model = describe_model(file);
  return model ? *model : fmt::format("spectr does not run this file: {}\n", model.error().message);
}

}  // namespace spectr::cli
