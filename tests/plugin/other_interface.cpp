// A plug-in that reports that it was built with other headers; its entry must not be read.
#include "policy/plugin.hpp"

extern "C" {
extern __attribute__((visibility("default"))) const fairlead::PolicyPlugin fairlead_policy;
const fairlead::PolicyPlugin fairlead_policy{fairlead::interface_id() + 1, "0.0.7",
                                             reinterpret_cast<const fairlead::PolicyEntry*>(8)};
}
