// Where the tests of data run: on cores, on a device, and with less memory than data.
#pragma once
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

namespace fairlead {

inline Config settings(const char* memory = "16MiB", const char* devices = "",
                       const char* scheduler = "eager") {
  Config config;
  config.set("workers", "2");
  config.set("bind-threads", false);
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  if (*devices != '\0') config.set("devices", devices);
  return config;
}
inline constexpr const char* one_device = "emulated:memory=256KiB";

/// A codelet for cores, or for cores and devices of which devices are made to run it.
template <class Body>
auto on_cores(const char* name, Body body) {
  return codelet(name).cpu(body);
}
template <class Body>
auto on_devices(const char* name, Body body) {
  return codelet(name).emulated(body);
}

}  // namespace fairlead
