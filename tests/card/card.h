#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/cuda/cuda_device.h"
#include "spectr/backend/device/device.h"
#include "spectr/base/thread_pool.h"
#include "tests/card/report.h"
#include "tests/twins/twin_device.h"

namespace spectr::card {

/// A device under test, and the twins whose bits it must have.
struct Card {
  std::string name;  ///< "CUDA0", "Vulkan0", or "twins"
  std::shared_ptr<Device> device;
  std::shared_ptr<TwinDevice> twins;
  /// Equals `device` if CUDA drives it, else null. It makes no trials: every product has its first plan.
  std::shared_ptr<cuda::CudaDevice> cuda;
  /// Opens the device anew if CUDA drives it. Passes of such a device choose their plans by trials.
  std::function<std::shared_ptr<cuda::CudaDevice>()> reopen;
};

/// How much the sections cover.
struct Extent {
  bool dry = false;              ///< the two smallest sizes of everything
  std::filesystem::path folder;  ///< for the files of random models
  ThreadPool* pool = nullptr;    ///< packs weights

  /// Returns the sizes to cover: all, or the first two in a dry run.
  template <class T>
  std::vector<T> of(std::vector<T> all) const {
    if (dry && all.size() > 2) all.erase(all.begin() + 2, all.end());
    return all;
  }
};

/// Returns the names of the devices of this machine, after "twins".
std::vector<std::string> card_names();

/// Opens a device by its name. Throws if that fails.
Card open_card(const std::string& name);

// The sections of the report, in their order. They throw errors of the device.

/// The device, its driver and its clocks.
void describe(const Card& card, const Extent& extent, Report& report);
/// The speed of copies within the device's memory.
void measure_copies(const Card& card, const Extent& extent, Report& report);
/// The bits of products of every format, width and kernel shape.
void compare_products(const Card& card, const Extent& extent, Report& report);
/// The bits of attention, norms, activations, questions about logits, short lists, products by head, mixtures
/// of experts and recurrent layers.
void compare_kernels(const Card& card, const Extent& extent, Report& report);
/// The bits of whole passes of small models of all architectures.
void compare_passes(const Card& card, const Extent& extent, Report& report);
/// The times of passes of 1 to 64 rows of random models.
void measure_widths(const Card& card, const Extent& extent, Report& report);
/// The times of passes with first plans, and with plans that trials chose.
void measure_plans(const Card& card, const Extent& extent, Report& report);
/// The times of a pass and of a pass whose distributions are asked for, for a draft model.
void measure_drafting(const Card& card, const Extent& extent, Report& report);
/// Tokens per second of a synthetic pair, by `auto` and by plain decoding.
void measure_auto(const Card& card, const Extent& extent, Report& report);

}  // namespace spectr::card
