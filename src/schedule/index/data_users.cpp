// Records of tasks, and the lists of users of each datum.
#include "schedule/index/data_users.hpp"

namespace fairlead::schedule {

DartsTask& DataUsers::make(Task& task, std::span<const InputUse> inputs) {
  DartsTask& held = pool_.make(task, inputs.size());
  std::ranges::copy(inputs, held.uses().begin());
  std::uint32_t use = 0;
  for (const InputUse& input : inputs) {
    if (index(input.datum) >= users_.size())
      users_.resize(std::max(index(input.datum) + 1, users_.size() * 2));
    Users& users = users_[index(input.datum)];
    ++users.held;
    if (users.list.capacity() == 0) users.list.reserve(8);
    users.list.push_back({held.record, held.generation << 8 | std::min(use, many_uses)});
    ++use;
  }
  if (needs_.front().size() < pool_.records())
    for (std::vector<std::uint32_t>& needs : needs_) needs.resize(pool_.records());
  return held;
}

void DataUsers::release(DartsTask& held) {
  pool_.release(held);
  note(held);
  for (const InputUse& use : held.uses()) {
    Users& users = users_[index(use.datum)];
    --users.held;
    if (users.list.size() > 2 * users.held + 16)
      std::erase_if(users.list, [&](const User& user) {
        return (needs_.front()[user.record] ^ user.generation_and_use) >= 256;
      });
  }
}

void DataUsers::note(const DartsTask& held, Slot slot) {
  std::uint32_t need = LackState::nothing;
  if (held.where == DartsTask::Where::ready && held.on(slot).usable())
    need = lacking(held, slot);
  else if (held.where == DartsTask::Where::planned && held.planned_on == slot)
    need = LackState::planned;
  needs_[slot][held.record] = held.generation << 8 | need;
}

}  // namespace fairlead::schedule
