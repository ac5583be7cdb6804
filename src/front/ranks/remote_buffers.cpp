// Buffers for remote data. See remote_buffers.hpp.
#include "front/ranks/remote_buffers.hpp"

#include "base/check.hpp"

namespace fairlead::front {

namespace {
bool is_idle(const engine::RegisteredDatum& guest) noexcept {
  const graph::Epoch* const last = guest.tail.last;
  // acquire: this thread sees the writes of the last users. 1: only the mark of the datum's last epoch remains.
  return last == nullptr || last->pending.load(std::memory_order_acquire) == 1;
}
std::string name_of_guest(const void* owner, const engine::RegisteredDatum&) {
  const engine::RegisteredDatum* const named = static_cast<const SharedDatum*>(owner)->handle_target;
  return named == nullptr ? "another rank's datum" : named->text();
}
}  // namespace

engine::RegisteredDatum& RemoteBuffers::take(const SharedDatum& of) {
  auto& unused = unused_[of.bytes];
  engine::RegisteredDatum* guest = nullptr;
  if (!unused.empty() && is_idle(*unused.front())) {
    guest = unused.front();
    unused.pop_front();
  } else {
    ensure(spill_ != nullptr, "who has data of several ranks says where they live");
    guest = &store_->make();
    memory::DatumSpec spec{.bytes = of.bytes, .home = core_.topology().store()};
    spec.home_offset = spill_->allocate(of.bytes).offset;
    guest->name = &name_of_guest;
    guest->owner = &of;
    core_.register_datum(*guest, spec);
  }
  guest->owner = &of;
  return *guest;
}

void RemoteBuffers::release(engine::RegisteredDatum& guest) {
  guest.ever_written = false;
  unused_[guest.bytes].push_back(&guest);
}

}  // namespace fairlead::front
