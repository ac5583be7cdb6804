// Records of tasks, and the lists in which their data know them.
#include "schedule/index/data_users.hpp"

namespace fairlead::schedule {

HeldTask& DataUsers::make(Task& task) {
  std::size_t inputs = 0;
  for (const Access& access : task.accesses()) inputs += reads(access.mode) ? 1 : 0;
  HeldTask& held = pool_.make(task, inputs);
  std::uint32_t use = 0;
  for (const Access& access : task.accesses()) {
    if (!reads(access.mode)) continue;
    held.uses()[use].datum = access.datum;
    held.uses()[use].updated = writes(access.mode);
    if (index(access.datum) >= users_.size())
      users_.resize(std::max(index(access.datum) + 1, users_.size() * 2));
    Users& users = users_[index(access.datum)];
    ++users.held;
    if (users.list.capacity() == 0) users.list.reserve(8);
    users.list.push_back({held.record, held.generation << 8 | std::min(use, many_uses)});
    ++use;
  }
  for (std::vector<std::uint32_t>& needs : needs_)
    if (needs.size() < pool_.records()) needs.resize(pool_.records());
  return held;
}

void DataUsers::release(HeldTask& held) {
  pool_.release(held);
  note(held);
  for (const Use& use : held.uses()) {
    Users& users = users_[index(use.datum)];
    --users.held;
    if (users.list.size() > 2 * users.held + 16)
      std::erase_if(users.list, [&](const User& user) {
        return (needs_.front()[user.record] ^ user.generation_and_use) >= 256;
      });
  }
}

void DataUsers::note(const HeldTask& held, Slot slot) {
  std::uint32_t need = Need::nothing;
  if (held.where == HeldTask::Where::ready && held.on(slot).usable())
    need = lacking(held, slot);
  else if (held.where == HeldTask::Where::planned && held.planned_on == slot)
    need = Need::planned;
  needs_[slot][held.record] = held.generation << 8 | need;
}

}  // namespace fairlead::schedule
