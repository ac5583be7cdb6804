// The reason why a run stops: the first one counts.
#include "engine/stop.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fairlead::engine {

TEST(Stop, KeepsTheFirstFailedWriteBack) {
  StopReason stop;
  EXPECT_EQ(stop.error(), 0);
  EXPECT_TRUE(stop.note_lost_write(28, DatumId{3}, nullptr));
  EXPECT_FALSE(stop.note_lost_write(5, DatumId{4}, nullptr));
  EXPECT_EQ(stop.error(), 28);
  EXPECT_EQ(stop.datum(), DatumId{3});
  EXPECT_FALSE(stop.stopped());  // all values are still valid
}

TEST(Stop, KeepsTheFirstInternalError) {
  StopReason stop;
  stop.note_fatal(std::make_exception_ptr(std::runtime_error("first")));
  stop.note_fatal(std::make_exception_ptr(std::runtime_error("second")));
  EXPECT_TRUE(stop.stopped());
  try {
    std::rethrow_exception(stop.fatal());
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "first");
  }
}

}  // namespace fairlead::engine
