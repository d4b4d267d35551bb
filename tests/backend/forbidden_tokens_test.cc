// Forbidden tokens have no logit on any backend.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/backend/sharded/model_part.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/transformer.h"
#include "tests/support/data.h"
#include "tests/support/models/tiny_tensors.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

// A model of zeros finds all tokens equally likely. Its logit cap would turn −∞ into a finite number.
TEST(ForbiddenTokens, HaveNoLogit) {
  const auto bytes = with_tensors(tiny_model("gemma2")
                                      .set("gemma2.final_logit_softcapping", 30.0F)
                                      .set("tokenizer.ggml.suppress_tokens", std::vector<std::int32_t>{2}),
                                  tiny_tensors("gemma2"))
                         .bytes();
  ThreadPool pool(1);
  for (const std::shared_ptr<const Backend>& backend :
       {std::shared_ptr<const Backend>(std::make_shared<CpuBackend>(pool)),
        std::shared_ptr<const Backend>(std::make_shared<ReferenceBackend>()),
        std::shared_ptr<const Backend>(std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>()))}) {
    const auto model = Transformer::load(Gguf::parse(bytes, "test.gguf").value(), backend, {}).value();
    const auto session = model->start(0, 2).value();
    TokenTree tree(0);
    tree.child(TokenTree::root, 1);
    ASSERT_TRUE(session->score(std::vector<Token>{0}, tree));
    for (const NodeId node : {NodeId{0}, NodeId{1}}) {
      const Logits row = session->logits(node);
      EXPECT_EQ(row.at(2), -std::numeric_limits<double>::infinity());
      for (const Token token : {0, 1, 3}) EXPECT_EQ(row.at(token), 0.0);
    }
  }
}

TEST(ForbiddenTokens, AreThoseOfARanksOwnRows) {
  ModelSpec whole =
      read_model_spec(Gguf::open(source_folder() / "tests/data/arch/qwen3moe-f32.gguf").value()).value();
  const auto last = static_cast<Token>(whole.vocabulary - 1);
  whole.head.forbidden = {0, last / 2, last / 2 + 1, last};
  std::vector<Token> all;
  for (const std::size_t rank : {0, 1}) {
    ModelSpec part = whole;
    ASSERT_TRUE(take_part_of_layers(part, {rank, 2}));
    EXPECT_FALSE(part.head.forbidden.empty());
    for (const Token token : part.head.forbidden)
      all.push_back(token + static_cast<Token>(part_of(whole.vocabulary, {rank, 2}).first));
  }
  EXPECT_EQ(all, whole.head.forbidden);
}

}  // namespace
}  // namespace spectr
