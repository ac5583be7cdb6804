// The compiler rejects writes to a shared field of memory's parts by any but the one owning class.
#include "memory/written_by.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "memory/memory_node.hpp"

namespace fairlead::memory {

namespace {

struct Own {
  class Writer;
  WrittenBy<int, Writer> number = 1;
  WrittenBy<int*, Writer> place = nullptr;
};
class Own::Writer {
 public:
  static void count(Own& own) { ++own.number; }
  static void put(Own& own, int* place) { own.place = place; }
};

template <class Field, class Value>
concept Assignable = requires(Field& field, Value value) {
  field = value;
};
template <class Field>
concept Countable = requires(Field& field) {
  ++field;
};
template <class Field>
concept Open = requires(Field& field) {
  field.write();
};

static_assert(Assignable<int, int> && Countable<int>);
static_assert(!Assignable<decltype(Own::number), int> && !Assignable<decltype(Own::number), Own&>);
static_assert(!Countable<decltype(Own::number)> && !Open<decltype(Own::number)>);
static_assert(!Assignable<decltype(Replica::state), ReplicaState> &&
              !Countable<decltype(Replica::task_pins)>);
static_assert(!std::is_copy_assignable_v<Replica> && !std::is_copy_assignable_v<MemoryNode>);
// It has no overhead.
static_assert(sizeof(WrittenBy<bool, Own::Writer>) == 1 && std::is_trivially_destructible_v<Replica>);

}  // namespace

TEST(WrittenBy, IsReadByAllClassesAndWrittenByItsOwn) {
  Own own;
  int target = 7;
  Own::Writer::count(own);
  Own::Writer::put(own, &target);
  EXPECT_EQ(own.number, 2);
  EXPECT_EQ(*own.place, 7);
}

}  // namespace fairlead::memory
