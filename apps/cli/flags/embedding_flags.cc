#include "apps/cli/flags/embedding_flags.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "apps/cli/flags/flag_values.h"

namespace spectr::cli {
namespace {

constexpr const char* group_name = "Embeddings";
constexpr long max_norm = 1024;

}  // namespace

void EmbeddingFlags::add(CLI::App& app) {
  app.add_option("--pooling", pooling,
                 "how the states of tokens become one: none, mean, cls, last, rank; "
                 "default: as the model says")
      ->envname("LLAMA_ARG_POOLING")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(pooling_names), std::end(pooling_names))))
      ->group(group_name);
  app.add_option(
         "--embd-normalize", norm,
         "norm by which embeddings are divided; -1: none, 0: the largest number over 32760, p: p-norm")
      ->transform(whole(-1, max_norm))
      ->capture_default_str()
      ->group(group_name);
}

void EmbeddingFlags::add_serving(CLI::App& app) {
  app.add_flag("--embeddings,--embedding", embeds,
               "answer requests for embeddings though the model generates")
      ->envname("LLAMA_ARG_EMBEDDINGS")
      ->group(group_name);
  app.add_flag("--reranking,--rerank", ranks, "the same as --embeddings --pooling rank")
      ->envname("LLAMA_ARG_RERANKING")
      ->group(group_name);
  add(app);
}

EmbeddingOptions EmbeddingFlags::options() const {
  EmbeddingOptions options{.norm = static_cast<int>(norm)};
  if (!pooling.empty())
    options.pooling =
        static_cast<Pooling>(std::ranges::find(pooling_names, pooling) - std::begin(pooling_names));
  if (ranks) options.pooling = Pooling::rank;
  return options;
}

}  // namespace spectr::cli
