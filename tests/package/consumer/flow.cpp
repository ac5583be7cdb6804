// A program that needs all libraries that Fairlead is linked to: a runtime, a flow and one task.
#include <cstring>
#include <fairlead/fairlead.hpp>
#include <fairlead/version.hpp>

int main() {
  fairlead::Config config;
  config.set("memory", "4MiB");
  config.set("workers", 1);
  fairlead::Runtime runtime(config);
  double x = 20;
  const auto handle = runtime.value("x", x);
  const auto add =
      fairlead::codelet("add").cpu([](fairlead::InOut<double> value, int more) { *value += more; });
  fairlead::Flow flow(runtime);
  flow.submit(add(handle, 1));
  flow.wait();
  return x == 21 && std::strcmp(fairlead::version(), EXPECTED_VERSION) == 0 ? 0 : 1;
}
