#include "zero/Planning/DriveWear.h"

#include <gtest/gtest.h>

using namespace zero::planning;

TEST(DriveWear, CountsTheDrivesOfANode) {
  Machine machine;
  machine.disk.count = 2;
  machine.disk.endurance = 600e12;
  machine.network.ranksPerNode = 4;
  // Four of eight ranks share the two drives.
  const DriveWear wear = nodeDriveWear(machine, 3e9, 1e9, 8, 86.4);
  EXPECT_DOUBLE_EQ(wear.read, 12e9);
  EXPECT_DOUBLE_EQ(wear.written, 4e9);
  EXPECT_DOUBLE_EQ(wear.count, 2);
  EXPECT_DOUBLE_EQ(wear.writtenPerDay(), 4e12);
  EXPECT_DOUBLE_EQ(wear.years(), 300 / 365.25);
}

TEST(DriveWear, SaysWhatIsKnown) {
  const double written = 3.0 * (1 << 20);
  EXPECT_EQ(wearText({0, written, 0, 0}), "3.0 MiB a step");
  EXPECT_EQ(wearText({0, written, 0, 600e12}), "3.0 MiB a step");
  EXPECT_EQ(wearText({0, written, 0.1, 0}), "3.0 MiB a step is 2.72 TB a day");
  EXPECT_EQ(
      wearText({0, written, 0.1, 600e12}),
      "3.0 MiB a step is 2.72 TB a day, which uses up the endurance of 600 TB in 0.604 years");
  EXPECT_EQ(DriveWear({0, 0, 1, 600e12}).years(), 0);
}
