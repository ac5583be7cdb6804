// What makes a policy of a shared object: one symbol that names its entry, and the interface it was compiled
// against.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "policy/interface_hash.hpp"  // made by cmake/policy_interface.cmake: interface_hash, interface_version
#include "policy/policy.hpp"

namespace fairlead {

/// The symbol `fairlead_policy`. What it looks like never changes, so that also old ones are understood.
struct PolicyPlugin {
  /// interface_id of the one who compiled it. If it is another, `entry` is not touched.
  std::uint64_t interface;
  const char* version;  ///< of the Fairlead that it was compiled against
  const PolicyEntry* entry;
};

/// Two that agree in it mean the same by every type of the interface: its headers are the same to the letter,
/// and so are the sizes that the compiler and its library give to what crosses it.
constexpr std::uint64_t interface_id() noexcept {
  std::uint64_t id = interface_hash;
  for (const std::uint64_t size : {sizeof(Task), sizeof(Access), sizeof(CodeletInfo), sizeof(std::string),
                                   sizeof(std::vector<int>), sizeof(void*)})
    id = Random::mix(id ^ size);
  return id;
}

}  // namespace fairlead

/// In one file of a plug-in, outside of namespaces: `entry` is a PolicyEntry with static storage.
#define FAIRLEAD_POLICY(entry)                                                                              \
  extern "C" {                                                                                              \
  extern __attribute__((visibility("default"))) const ::fairlead::PolicyPlugin fairlead_policy;             \
  const ::fairlead::PolicyPlugin fairlead_policy{::fairlead::interface_id(), ::fairlead::interface_version, \
                                                 &(entry)};                                                 \
  }                                                                                                         \
  static_assert(true)
