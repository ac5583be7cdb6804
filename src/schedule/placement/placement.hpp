// The placement policies, which decide on which device each datum lives, and let tasks follow the data that
// they write: owner-load, owner-user, owner-random. Data placement strategies for owner-compute scheduling on
// multi-accelerator nodes in PaRSEC, 2025, section 3.1. They differ in where data are placed that live
// nowhere.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

inline constexpr PolicyOption tolerance_option{
    "tolerance", "0.2",
    "how much later than elsewhere a task may be over where its data are, as a part; or reuse-only: always "
    "there; load-only: never for their sake"};
inline constexpr std::array owner_options{tolerance_option};
inline constexpr std::array owner_random_options{
    tolerance_option, PolicyOption{"seed", "1", "of the devices that are drawn: a whole number"}};

/// Data that live nowhere yet: where the task that writes them is over first, or where what it reads is if
/// that is hardly later.
std::unique_ptr<Policy> make_owner_load(const PolicyOptions&);
/// Where the program says: of the task, or of the data. Else by load.
std::unique_ptr<Policy> make_owner_user(const PolicyOptions&);
/// Anywhere, by chance; for comparison.
std::unique_ptr<Policy> make_owner_random(const PolicyOptions&);

}  // namespace fairlead::schedule
