// Attention, norms, activations, questions about logits, short lists, products by head, mixtures of experts
// and recurrent layers.
#include <bit>

#include "tests/card/card.h"
#include "tests/support/devices/call_cases.h"
#include "tests/support/devices/device_attention.h"
#include "tests/support/devices/expert_cases.h"
#include "tests/support/devices/head_products.h"
#include "tests/support/models/recurrent_course.h"

namespace spectr::card {
namespace {

using test::WorkOnDevice;

std::vector<WorkOnDevice> attention() {
  std::vector<WorkOnDevice> all;
  for (const test::AttentionCase& c : test::attention_cases())
    all.emplace_back([c](Device& on) { return test::attention_bits(on, c); });
  return all;
}

std::vector<WorkOnDevice> products_by_head() {
  std::vector<WorkOnDevice> all;
  for (const test::HeadProductCase& c : test::head_product_cases())
    all.emplace_back([c](Device& on) { return test::head_product_bits(on, c); });
  return all;
}

std::vector<WorkOnDevice> recurrent_layers() {
  std::vector<WorkOnDevice> all;
  for (const test::RecurrentShape& shape :
       {test::RecurrentShape{1, 1, 6, 2, 6}, {2, 4, 40, 4, 70}, {1, 2, 130, 16, 131}}) {
    all.emplace_back([shape](Device& on) {
      std::vector<std::uint32_t> bits;
      test::recurrent_course(on, shape, [&bits](const test::RecurrentRow& row) {
        for (const float number : row.out) bits.push_back(std::bit_cast<std::uint32_t>(number));
      });
      return bits;
    });
  }
  return all;
}

}  // namespace

void compare_kernels(const Card& card, const Extent& extent, Report& report) {
  report.begin("bits of other kernels", {"what", "cases", "differ"});
  const auto compare = [&](const std::string& what, const std::vector<WorkOnDevice>& all) {
    const std::vector<WorkOnDevice> works = extent.of(all);
    const int before = report.differences();
    for (std::size_t i = 0; i < works.size(); ++i)
      report.compare(works[i](*card.device) == works[i](*card.twins), what + ", case " + std::to_string(i));
    report.row({what, works.size(), report.differences() - before});
  };
  compare("attention", attention());
  compare("norms", test::norms_of_every_kind());
  compare("activations", test::activations_of_every_kind());
  compare("questions about logits", test::questions_of_every_kind());
  compare("short lists", test::shortlists());
  compare("products by head", products_by_head());
  compare("choice of experts", test::choosing_of_every_kind());
  compare("choice without numbers", test::choosing_without_numbers());
  compare("lists of experts", test::lists_of_experts());
  compare("products by expert", test::expert_products({TensorType::q8_0, TensorType::q4_0, TensorType::q4_k,
                                                       TensorType::q6_k, TensorType::f16}));
  compare("sums of experts", test::additions_of_experts());
  compare("recurrent layers", recurrent_layers());
}

}  // namespace spectr::card
