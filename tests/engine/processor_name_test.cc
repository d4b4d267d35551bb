#include "spectr/engine/costs/processor_name.h"

#include <gtest/gtest.h>

#include <sstream>

namespace spectr {
namespace {

std::string name_in(const std::string& info) {
  std::istringstream in(info);
  return processor_name(in);
}

TEST(ProcessorName, IsTheModelThatTheSystemNames) {
  EXPECT_EQ(name_in("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n"),
            "AMD EPYC");
}

TEST(ProcessorName, TellsEveryKindOfCoreByNumbersWhereThereIsNoModel) {
  const std::string core = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: ";
  EXPECT_EQ(name_in(core + "0xd05\n\n" + core + "0xd05\n\n" + core + "0xd0b\n"),
            "ARM 0x41/0xd05 and 0x41/0xd0b");
}

TEST(ProcessorName, IsUnknownWhereNothingIsTold) {
  EXPECT_EQ(name_in(""), "unknown processor");
  EXPECT_EQ(name_in("model name"), "unknown processor");
}

}  // namespace
}  // namespace spectr
