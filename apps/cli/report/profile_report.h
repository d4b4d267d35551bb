#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/pass_profile.h"

namespace spectr::cli {

/// The time that passes of each model spent per operation, compared with the peak speed of the machine.
class ProfileReport {
 public:
  struct Model {
    std::string role;  ///< "target" or "draft"
    std::string name;
    const PassProfile& profile;
  };

  /// Measures the machine, which takes about a second. The profiles must outlive this.
  ProfileReport(std::vector<Model> models, ThreadPool& pool);

  Json json() const;
  void print(std::FILE* out) const;

 private:
  std::vector<Model> models_;
  MachineSpeed machine_;
};

}  // namespace spectr::cli
