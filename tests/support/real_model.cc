#include "tests/support/real_model.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "spectr/backend/cpu/cpu_backend.h"
#include "tests/support/data.h"
#include "tests/support/value_of.h"

namespace spectr::test {

namespace {

std::filesystem::path found(std::string_view name) {
  const auto path = find_data(name);
  if (!path) throw std::runtime_error(std::string(name) + " is missing");
  return *path;
}

}  // namespace

RealModel RealModel::load_transformer(std::string_view name, int threads, const KvChoice& kv) {
  auto pool = std::make_unique<ThreadPool>(threads);
  auto model = value_of(
      Transformer::load(value_of(Gguf::open(found(name))), std::make_shared<CpuBackend>(*pool), {.kv = kv}));
  return {std::move(pool), nullptr, std::move(model)};
}

RealModel RealModel::load(std::string_view name, int threads, const LoadOptions& options) {
  auto pool = std::make_unique<ThreadPool>(threads);
  LoadedModel model = value_of(load_model(found(name), *pool, options));
  return {std::move(pool), std::move(model.tokenizer), std::move(model.transformer)};
}

}  // namespace spectr::test
