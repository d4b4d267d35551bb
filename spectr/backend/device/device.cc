#include "spectr/backend/device/device.h"

#include <vector>

namespace spectr {
namespace {

class PlainStagingMemory final : public StagingMemory {
 public:
  explicit PlainStagingMemory(std::vector<std::byte> memory)
      : StagingMemory(memory), memory_(std::move(memory)) {}

 private:
  std::vector<std::byte> memory_;
};

}  // namespace

std::unique_ptr<StagingMemory> Device::allocate_staging(std::size_t bytes) {
  return std::make_unique<PlainStagingMemory>(std::vector<std::byte>(bytes));
}

}  // namespace spectr
