// Policies in shared objects (plug-ins): one symbol with the policy's entry and the interface against which it was
// compiled.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "policy/interface_hash.hpp"  // made by cmake/policy_interface.cmake: interface_hash, interface_version
#include "policy/policy.hpp"

namespace fairlead {

/// The type of the symbol `fairlead_policy`. Its layout never changes, so that outdated plug-ins are recognized.
struct PolicyPlugin {
  /// interface_id() at compile time. If it differs from the program's, `entry` is not read.
  std::uint64_t interface;
  const char* version;  ///< the Fairlead version against which it was compiled
  const PolicyEntry* entry;
};

/// Identifies the plug-in interface. If two values are equal, all types of the interface are equal: the headers are
/// textually identical, and the compiler and its library give the types that cross the interface the same sizes.
constexpr std::uint64_t interface_id() noexcept {
  std::uint64_t id = interface_hash;
  for (const std::uint64_t size : {sizeof(Task), sizeof(Access), sizeof(CodeletInfo), sizeof(std::string),
                                   sizeof(std::vector<int>), sizeof(void*)})
    id = Random::mix(id ^ size);
  return id;
}

}  // namespace fairlead

/// Defines the plug-in's symbol. Use it in one file of a plug-in, outside of namespaces; `entry` is a PolicyEntry with
/// static storage.
#define FAIRLEAD_POLICY(entry)                                                                              \
  extern "C" {                                                                                              \
  extern __attribute__((visibility("default"))) const ::fairlead::PolicyPlugin fairlead_policy;             \
  const ::fairlead::PolicyPlugin fairlead_policy{::fairlead::interface_id(), ::fairlead::interface_version, \
                                                 &(entry)};                                                 \
  }                                                                                                         \
  static_assert(true)
