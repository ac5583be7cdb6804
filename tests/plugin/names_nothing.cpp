// An entry that nobody has filled in.
#include "policy/plugin.hpp"

constexpr fairlead::PolicyEntry entry{"nothing", "", nullptr};
FAIRLEAD_POLICY(entry);
