// See scheduler_setting.hpp.
#include "front/runtime/scheduler_setting.hpp"

#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {

std::unique_ptr<Policy> make_scheduler(const Config& config, const std::string& written) {
  if (!schedule::is_plugin(schedule::name_in(written)))
    config.require_one_of("scheduler", schedule::policy_names(), schedule::name_in(written));
  return schedule::make_policy(written);
}

}  // namespace fairlead::front
