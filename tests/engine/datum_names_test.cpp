// Names of data, during their lifetime and, on request, afterwards.
#include "engine/datum_names.hpp"

#include <gtest/gtest.h>

namespace fairlead::engine {

namespace {
RegisteredDatum named(std::uint32_t id, const std::string& name) {
  RegisteredDatum datum;
  datum.id = DatumId{id};
  datum.owner = &name;
  datum.name = [](const void* owner, const RegisteredDatum&) {
    return *static_cast<const std::string*>(owner);
  };
  return datum;
}
}  // namespace

TEST(DatumNames, BelongToTheCurrentDataOfTheIds) {
  DatumNames names;
  const std::string first = "A[0,0]", second = "x";
  const RegisteredDatum a = named(0, first), x = named(0, second);
  names.make_room();
  names.add(a);
  EXPECT_EQ(names.text(DatumId{0}), "A[0,0]");
  EXPECT_EQ(names.text(DatumId{1}), "datum 1");
  names.remove(a.id);
  EXPECT_EQ(names.text(DatumId{0}), "datum 0");
  names.add(x);
  EXPECT_EQ(names.text(DatumId{0}), "x");
}

TEST(DatumNames, AFixedNameOutlivesItsSource) {
  DatumNames names;
  names.make_room();
  {
    const std::string name = "A[0,0]";
    const RegisteredDatum a = named(0, name);
    names.add(a);
    names.fix(a.id);
  }
  EXPECT_EQ(names.text(DatumId{0}), "A[0,0]");
}

TEST(DatumNames, StayIfTheyAreKept) {
  DatumNames names;
  names.keep();
  const std::string first = "A[0,0]";
  const RegisteredDatum a = named(0, first);
  names.make_room();
  names.add(a);
  names.remove(a.id);
  names.remove(a.id);
  EXPECT_EQ(names.text(DatumId{0}), "A[0,0]");
}

}  // namespace fairlead::engine
