#include "tests/support/real_model.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/data.h"
#include "tests/support/value_of.h"

namespace spectr::test {

RealModel RealModel::load(std::string_view name, int threads, const LoadOptions& options) {
  const auto path = find_data(name);
  if (!path) throw std::runtime_error(std::string(name) + " is missing");
  auto pool = std::make_unique<ThreadPool>(threads);
  LoadedModel model = value_of(load_model(*path, *pool, options));
  return {std::move(pool), std::move(model.tokenizer), std::move(model.transformer)};
}

}  // namespace spectr::test
