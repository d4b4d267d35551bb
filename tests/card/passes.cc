// Whole passes of small models of all architectures.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "spectr/backend/device/device_backend.h"
#include "spectr/nn/transformer.h"
#include "tests/card/card.h"
#include "tests/support/models/model_course.h"
#include "tests/support/value_of.h"

namespace spectr::card {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<Transformer>> load(const fs::path& file, const std::shared_ptr<Device>& device) {
  SPECTR_TRY(Gguf read, Gguf::open(file));
  return Transformer::load(std::move(read), std::make_shared<DeviceBackend>(device),
                           {.kv = {KvType::f16, KvType::f16}});
}

std::vector<std::vector<double>> course_of(const Transformer& model, bool is_short) {
  if (is_short) return test::course(model, 5, 2, 3);
  std::vector<std::vector<double>> rows = test::course(model), more = test::course_in_company(model);
  rows.insert(rows.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  return rows;
}

}  // namespace

void compare_passes(const Card& card, const Extent& extent, Report& report) {
  report.begin("bits of passes", {"model", "rows", "differ"});
  std::vector<fs::path> files = test::course_models();
  std::ranges::sort(files, {}, [](const fs::path& file) { return fs::file_size(file); });
  for (const fs::path& file : extent.of(files)) {
    const std::string name = (file.parent_path().filename() / file.filename()).string();
    const auto expected_on = load(file, card.twins);
    const auto found_on = load(file, card.device);
    if (!expected_on || !found_on) {
      // Encoders, vocabularies and formats that devices refuse are refused everywhere.
      report.compare(!expected_on && !found_on, name + " is loaded in one place only");
      continue;
    }
    const auto expected = course_of(**expected_on, extent.dry), found = course_of(**found_on, extent.dry);
    report.compare(found == expected, name);
    report.row({name, expected.size(), found == expected ? 0 : 1});
  }
}

}  // namespace spectr::card
