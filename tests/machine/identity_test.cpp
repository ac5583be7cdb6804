// The identity that distinguishes this machine from others.
#include <gtest/gtest.h>

#include "machine/identity.hpp"
#include "machine/planted.hpp"

namespace fairlead::machine {

TEST(Identity, IsHostProcessorAndCores) {
  Planted planted;
  planted.file("/proc/sys/kernel/hostname", "node7")
      .file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu avx2\n");
  Machine machine;
  machine.processors.cores_present = 192;
  EXPECT_EQ(identity_of(machine, planted.root()).text(), "node7: AMD EPYC 9654, 192 cores");
}

TEST(Identity, UsesThePartNumberOfAnArmProcessor) {
  Planted planted;
  planted.file("/proc/sys/kernel/hostname", "board")
      .file("/proc/cpuinfo", "processor\t: 0\nCPU part\t: 0xd0c\n");
  Machine machine;
  machine.processors.cores_present = 1;
  EXPECT_EQ(identity_of(machine, planted.root()).text(), "board: 0xd0c, 1 core");
}

TEST(Identity, HasDefaultsForMissingFiles) {
  const Planted planted;
  EXPECT_EQ(identity_of(Machine(), planted.root()).text(),
            "a host without a name: a processor without a name, 0 cores");
}

}  // namespace fairlead::machine
