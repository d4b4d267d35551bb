// Passes of random models of every width, and with first and tried plans.
#include <fmt/format.h>

#include <sstream>

#include "spectr/backend/cuda/plan_trial.h"
#include "tests/card/card.h"
#include "tests/card/model_on.h"

namespace spectr::card {
namespace {

std::vector<std::size_t> widths_of(const Extent& extent) {
  return extent.of(std::vector<std::size_t>{1, 2, 4, 8, 16, 32, 64});
}

std::vector<std::size_t> depths_of(const Extent& extent) {
  return extent.dry ? std::vector<std::size_t>{16, 70} : std::vector<std::size_t>{512, 4096};
}

std::size_t passes_of(const Extent& extent) {
  return extent.dry ? 1 : 25;
}

}  // namespace

void measure_widths(const Card& card, const Extent& extent, Report& report) {
  report.begin("passes", {"format", "depth", "width", "ms", "relative"});
  const std::shared_ptr<Device> device = card.reopen ? card.reopen() : card.device;
  for (const LlamaFormats& formats : extent.of(llama_formats())) {
    const auto model = load_random(device, extent, target_shape(extent), formats);
    for (const std::size_t depth : depths_of(extent)) {
      const std::vector<std::size_t> widths = widths_of(extent);
      TimedSession session(*model, depth, widths.back());
      double of_one = 0;
      for (const std::size_t width : widths) {
        const double seconds = session.median(width, passes_of(extent));
        if (width == 1) of_one = seconds;
        report.row({formats.name, depth, width, seconds * 1e3, seconds / of_one});
      }
    }
  }
}

void measure_plans(const Card& card, const Extent& extent, Report& report) {
  report.begin("plans of products", {"width", "ms by first plans", "ms by tried plans"});
  if (card.cuda == nullptr) {
    report.note("this device has no plans to choose from");
    return;
  }
  const LlamaFormats formats = llama_formats().front();
  // In a dry run, one layer after a text whose pieces are as narrow as the passes: its products are few, and
  // each has one trial.
  const LlamaShape shape = extent.dry ? draft_shape(extent) : target_shape(extent);
  const std::size_t depth = extent.dry ? 4 : depths_of(extent).front();
  const auto tried = card.reopen();
  const auto by_first = load_random(card.device, extent, shape, formats),
             by_tried = load_random(tried, extent, shape, formats);
  const std::vector<std::size_t> widths = widths_of(extent);
  TimedSession first(*by_first, depth, widths.back()), second(*by_tried, depth, widths.back());
  for (const std::size_t width : widths) {
    report.row(
        {width, first.median(width, passes_of(extent)) * 1e3, second.median(width, passes_of(extent)) * 1e3});
  }
  report.note("chosen: format panels blocks tiles split | tiles sharers warps segments columns groups ring");
  std::istringstream lines(cuda::lines_of(tried->plans()));
  for (std::string line; std::getline(lines, line);) report.note(line);
}

}  // namespace spectr::card
