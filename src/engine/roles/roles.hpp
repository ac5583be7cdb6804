// Maps each task to the treatment of its role.
#pragma once
#include <array>
#include <memory>

#include "engine/roles/role.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Roles {
 public:
  explicit Roles(const RoleParts& parts);

  Role& of(const Task& task) noexcept { return *roles_[static_cast<std::size_t>(task.role)]; }

 private:
  std::array<std::unique_ptr<Role>, task_roles> roles_;
};

}  // namespace fairlead::engine
