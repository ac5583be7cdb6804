// The two places of a slot: what was saved last is never overwritten.
#include "backend/disk/slot_places.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.hpp"

namespace fairlead::backend {
namespace {

TEST(SlotPlaces, AlternateWithEachSave) {
  SlotPlaces places(4096);
  EXPECT_EQ(places.for_reading(4096, 5000), 4096u);
  EXPECT_EQ(places.for_writing(4096, 5000), 4096u);
  EXPECT_EQ(places.for_writing(4096, 5000), 4096u);  // nothing is saved
  places.save(std::vector<Bytes>{4096});
  EXPECT_EQ(places.for_reading(4096, 5000), 4096u);
  EXPECT_EQ(places.for_writing(4096, 5000), 4096 + 8192);
  EXPECT_EQ(places.for_reading(4096, 5000), 4096 + 8192);
  EXPECT_EQ(places.for_writing(4096, 5000), 4096 + 8192);  // the same until the next save
  places.save(std::vector<Bytes>{4096});
  EXPECT_EQ(places.for_writing(4096, 5000), 4096u);
  places.forget(4096);
  EXPECT_EQ(places.for_reading(4096, 5000), 4096u);
}

// A file as a map from places to values, with the values that the last save must keep.
TEST(SlotPlaces, KeepWhatWasSavedAndGiveWhatWasWritten) {
  Random random(1);
  SlotPlaces places(4096);
  std::map<Bytes, int> file, newest, saved_value;
  std::map<Bytes, Bytes> saved_place;
  for (int step = 1; step <= 20'000; ++step) {
    const Bytes slot = 8192 * random.below(20);
    if (random.once_in(200)) {
      std::vector<Bytes> slots;
      saved_place.clear();
      for (const auto& [at, value] : newest) {
        if (random.once_in(5)) continue;  // not part of this checkpoint
        slots.push_back(at);
        saved_place[at] = places.for_reading(at, 4096);
        saved_value[at] = value;
      }
      places.save(slots);
    } else {
      file[places.for_writing(slot, 4096)] = newest[slot] = step;
    }
    for (const auto& [at, value] : newest) ASSERT_EQ(file[places.for_reading(at, 4096)], value);
    for (const auto& [at, place] : saved_place) ASSERT_EQ(file[place], saved_value[at]);
  }
}

}  // namespace
}  // namespace fairlead::backend
