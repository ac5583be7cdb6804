// A plug-in that throws its own exception while it creates its policy: what() is code of the plug-in.
#include <exception>

#include "policy/plugin.hpp"

namespace {

struct OfItsOwn : std::exception {
  const char* what() const noexcept override { return "not on a Saturday"; }
};

constexpr fairlead::PolicyEntry entry{
    "refuses", "",
    [](const fairlead::PolicyOptions&) -> std::unique_ptr<fairlead::Policy> { throw OfItsOwn(); }};

}  // namespace

FAIRLEAD_POLICY(entry);
