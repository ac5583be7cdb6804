// The placement policies: they choose the device that owns each datum, and tasks run where the data that they write
// are: owner-load, owner-user, owner-random. Data placement strategies for owner-compute scheduling on
// multi-accelerator nodes in PaRSEC, 2025, section 3.1. They differ in the placement of data without an owner.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

inline constexpr PolicyOption tolerance_option{
    "tolerance", "0.2",
    "how much later than elsewhere a task may finish where its data are, as a fraction; or reuse-only: "
    "always where its data are; load-only: regardless of its data"};
inline constexpr std::array owner_options{tolerance_option};
inline constexpr std::array owner_random_options{
    tolerance_option, PolicyOption{"seed", "1", "seed of the random devices: a whole number"}};

/// Places data without an owner where the writing task finishes first, or where its inputs are if it finishes only
/// slightly later there.
std::unique_ptr<Policy> make_owner_load(const PolicyOptions&);
/// Places data by the program's hints for the task or the data, else by load.
std::unique_ptr<Policy> make_owner_user(const PolicyOptions&);
/// Places data at random, for comparison.
std::unique_ptr<Policy> make_owner_random(const PolicyOptions&);

}  // namespace fairlead::schedule
