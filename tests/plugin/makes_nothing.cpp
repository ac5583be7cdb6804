// Its function forgets to make a policy.
#include "policy/plugin.hpp"

constexpr fairlead::PolicyEntry entry{
    "nothing", "",
    [](const fairlead::PolicyOptions&) -> std::unique_ptr<fairlead::Policy> { return nullptr; }};
FAIRLEAD_POLICY(entry);
