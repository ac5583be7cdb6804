// A plug-in whose function returns no policy.
#include "policy/plugin.hpp"

constexpr fairlead::PolicyEntry entry{
    "nothing", "",
    [](const fairlead::PolicyOptions&) -> std::unique_ptr<fairlead::Policy> { return nullptr; }};
FAIRLEAD_POLICY(entry);
