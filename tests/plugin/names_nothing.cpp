// A plug-in with an empty entry.
#include "policy/plugin.hpp"

constexpr fairlead::PolicyEntry entry{"nothing", "", nullptr};
FAIRLEAD_POLICY(entry);
