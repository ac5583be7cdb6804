// The links of this machine are measured once, and what earlier runs have measured is taken from their file.
#include "simulate/measured/measure_links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "temporary_directory.hpp"

namespace fairlead::simulate {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

class MeasureLinks : public testing::Test {
 protected:
  MeasureLinks() {
    config_.set("disk-directory", directory_.path().string());
    config_.set("cache-directory", (directory_ / "cache").string());
    how_.disk_bytes = Bytes{16} << 20;
    how_.progress = [this](const std::string& text) { progress_.push_back(text); };
  }
  MeasuredLinks measured() {
    progress_.clear();
    const front::KeptMeasurements kept(config_, machine::discover());
    MeasuredLinks links = measure_links(out_of_core_topology(1, 1, 1, {}), kept, how_);
    // Only reliable measurements are kept; under load there may be none.
    if (!links.to_keep.empty()) kept.file->put(links.to_keep);
    return links;
  }

  const tests::TemporaryDirectory directory_;
  Config config_;
  LinkMeasurement how_;
  std::vector<std::string> progress_;
};

TEST_F(MeasureLinks, ReturnsPositiveRatesOfDiskAndMemory) {
  const MeasuredLinks links = measured();
  ASSERT_EQ(links.all.size(), 2U);
  for (const model::KeptLink& link : links.all) {
    EXPECT_GT(link.to_first, 1U) << link.first;
    EXPECT_GT(link.to_second, 1U) << link.first;
    EXPECT_GT(link.latency_ns, 0) << link.first;
    EXPECT_GT(link.day, 20'000) << "days since 1970";
  }
  EXPECT_THAT(progress_, Contains(StartsWith("disk of ")));
  EXPECT_THAT(progress_, Contains("memory: copying"));
  const auto disk = disk_figures(links.all);
  ASSERT_TRUE(disk);
  const model::KeptLink& link = links.all[links.all[0].place.empty() ? 1 : 0];
  EXPECT_EQ(disk->read, link.first == "disk" ? link.to_second : link.to_first);
  EXPECT_EQ(disk->written, link.first == "disk" ? link.to_first : link.to_second);
  EXPECT_FALSE(disk_figures({}));
}

TEST_F(MeasureLinks, TakesTheFiguresOfEarlierRunsUnlessAskedToMeasureAgain) {
  if (!measured().disturbed.empty()) GTEST_SKIP() << "other programs use the cores";
  const MeasuredLinks kept = measured();
  EXPECT_THAT(progress_, IsEmpty());
  EXPECT_EQ(kept.all.size(), 2U);
  EXPECT_THAT(kept.to_keep, IsEmpty());
  how_.again = true;
  EXPECT_EQ(measured().all.size(), 2U);
  EXPECT_FALSE(progress_.empty());
}

}  // namespace
}  // namespace fairlead::simulate
