// The list of all roles.
#include "engine/roles/roles.hpp"

namespace fairlead::engine {

// Each is defined in the file of its name.
std::unique_ptr<Role> make_fold(const RoleParts&);
std::unique_ptr<Role> make_hold(const RoleParts&);
std::unique_ptr<Role> make_view_switch(const RoleParts&);
std::unique_ptr<Role> make_turn(const RoleParts&);

namespace {
std::unique_ptr<Role> make(TaskRole role, const RoleParts& parts) {
  switch (role) {
    case TaskRole::program:
      return std::make_unique<Role>();
    case TaskRole::fold:
      return make_fold(parts);
    case TaskRole::hold:
    case TaskRole::remote_access:
      return make_hold(parts);
    case TaskRole::view_switch:
      return make_view_switch(parts);
    case TaskRole::sequence_point:
      return make_turn(parts);
  }
  return nullptr;
}
}  // namespace

Roles::Roles(const RoleParts& parts) {
  for (std::size_t i = 0; i < task_roles; ++i) roles_[i] = make(static_cast<TaskRole>(i), parts);
}

}  // namespace fairlead::engine
