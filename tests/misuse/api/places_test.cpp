// Errors of hints for absent accelerators or invalid places name the task or datum, and the valid values.
#include "misuse/api/refused.hpp"

#include <string>

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Config with_devices() {
  Config config = settings();
  config.set("devices", "emulated:memory=1MiB,count=2");
  return config;
}
const auto add_to = codelet("add").cpu([](In<int> from, int more, InOut<int> to) { *to += *from + more; });

}  // namespace

TEST(WrongPlaces, ADeviceThatDoesNotExist) {
  Runtime runtime(with_devices());
  int value = 0;
  const auto x = runtime.value("x", value);
  Flow flow(runtime);
  Recording recording(runtime);
  for (const int device : {2, 300, -2}) {
    const int line = __LINE__ + 1;
    const auto submit = [&] { flow.submit(increment(x).on_device(device)); };
    EXPECT_THAT(refused<UsageError>(submit),
                AllOf(HasSubstr("the task increment(x) must run on device " + std::to_string(device)),
                      HasSubstr("there are 2, counted from 0"), HasSubstr(line_of(line))));
    EXPECT_THAT(refused<UsageError>([&] { recording.submit(increment(x).on_device(device)); }),
                HasSubstr("there are 2"));
    EXPECT_THAT(refused<UsageError>([&] { flow.submit(increment(x).after().on_device(device)); }),
                HasSubstr("there are 2"));
  }
  flow.submit(increment(x).on_device(1));
  flow.submit(increment(x).on_device(no_device));
  flow.wait();
  expect_works(runtime);
}

TEST(WrongPlaces, AMachineWithoutAccelerators) {
  Runtime runtime(settings());
  int value = 0;
  const auto x = runtime.value("x", value);
  EXPECT_EQ(runtime.devices(), 0);
  Flow flow(runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(increment(x).on_device(0)); }),
              HasSubstr("on device 0, but there are no accelerators"));
  EXPECT_THAT(refused<UsageError>([&] { runtime.advise(x, 0); }),
              HasSubstr("x has its home on device 0, but there are no accelerators"));
  flow.submit(add_to(x, 1, x).where(0));
  flow.wait();
  expect_works(runtime);
}

TEST(WrongPlaces, AnArgumentThatIsNotADatumOrDoesNotExist) {
  Runtime runtime(with_devices());
  int value = 0;
  const auto x = runtime.value("x", value);
  EXPECT_THAT(refused<UsageError>([&] { add_to(x, 1, x).where(1); }),
              HasSubstr("the task add cannot run where its argument 1 is: that argument is not a datum"));
  for (const int argument : {3, -1})
    EXPECT_THAT(
        refused<UsageError>([&] { add_to(x, 1, x).where(argument); }),
        HasSubstr("argument " + std::to_string(argument) + " is: it has 3 arguments, counted from 0"));
}

TEST(WrongPlaces, AdviceOnAbsentData) {
  Runtime runtime(with_devices()), other(with_devices());
  int value = 0;
  const auto x = runtime.value("x", value);
  EXPECT_THAT(refused<UsageError>([&] { runtime.advise(x, 2); }),
              AllOf(HasSubstr("x has its home on device 2"), HasSubstr("there are 2, counted from 0")));
  EXPECT_THAT(refused<UsageError>([&] { other.advise(x, 1); }), HasSubstr("belongs to another runtime"));
  EXPECT_THAT(refused<UsageError>([&] { runtime.advise(Handle<int>(), 1); }), HasSubstr("empty"));
  runtime.advise(x, 1);
  runtime.advise(x, no_device);
  runtime.remove(x);
  EXPECT_THAT(refused<UsageError>([&] { runtime.advise(x, 1); }), HasSubstr("no longer exists"));
  expect_works(runtime);
}

TEST(WrongPlaces, AdviceOnTiles) {
  Runtime runtime(with_devices());
  auto a = runtime.tiled<double>("A", 64, 64, 32);
  EXPECT_THAT(refused<UsageError>([&] { a.advise([](int row, int column) { return row + column; }); }),
              HasSubstr("A[1,1] has its home on device 2"));
  const auto b = std::move(a);
  EXPECT_THAT(refused<UsageError>([&] { a.advise([](int, int) { return 0; }); }), HasSubstr("moved"));
  b.advise([](int row, int) { return row; });
  expect_works(runtime);
}

TEST(WrongPlaces, TheOptionsOfPlacement) {
  const auto with = [](const char* scheduler) {
    Config config = settings();
    config.set("scheduler", scheduler);
    Runtime runtime(config);
  };
  EXPECT_THAT(refused<ConfigError>([&] { with("owner-load:tolerance=reuse"); }),
              AllOf(HasSubstr("tolerance of the scheduler owner-load is \"reuse\""),
                    HasSubstr("reuse-only, load-only, or a number")));
  EXPECT_THAT(refused<ConfigError>([&] { with("owner-load:tolerance=-0.5"); }), HasSubstr("\"-0.5\""));
  EXPECT_THAT(refused<ConfigError>([&] { with("owner-random:seed=x"); }), HasSubstr("whole number"));
  EXPECT_THAT(refused<ConfigError>([&] { with("owner-user:seed=1"); }), HasSubstr("no option \"seed\""));
}

}  // namespace fairlead::misuse
