// Changes are collected and evaluated at the next query, so changes in between that cancel out cost nothing.
#include "schedule/index/missing_bytes.hpp"

#include <algorithm>

namespace fairlead::schedule {

void MissingBytes::enter(Queued& queued, AssignedQueue& queue) {
  queued.missing = 0;
  for (const Access& access : queued.task->accesses()) {
    if (!reads(access.mode)) continue;
    if (index(access.datum) >= data_.size()) data_.resize(2 * index(access.datum) + 1);
    Datum& datum = data_[index(access.datum)];
    if (datum.waiting++ == 0) {
      datum.present = present(access.datum);
      datum.bytes = view_->bytes(access.datum);
      // Check it again later: a datum that is leaving causes no event.
      if (datum.present) residency_changed(access.datum);
    }
    datum.readers.push_back({&queued, &queue, queued.generation});
    if (!datum.present) queued.missing += datum.bytes;
  }
}

void MissingBytes::leave(Queued& queued) {
  ++queued.generation;
  for (const Access& access : queued.task->accesses()) {
    if (!reads(access.mode)) continue;
    Datum& datum = data_[index(access.datum)];
    --datum.waiting;
    if (datum.readers.size() > 2 * datum.waiting + 16) std::erase_if(datum.readers, &Reader::gone);
  }
}

void MissingBytes::residency_changed(DatumId id) {
  if (index(id) >= data_.size()) return;
  Datum& datum = data_[index(id)];
  if (datum.waiting == 0 || datum.touched) return;
  datum.touched = true;
  touched_.push_back(id);
}

// A datum that is being written back for its eviction counts as present until it is gone. Its departure causes no
// event, so it is checked again.
std::size_t MissingBytes::outdated() {
  std::size_t tasks = 0;
  std::erase_if(touched_, [&](DatumId id) {
    Datum& datum = data_[index(id)];
    const ReplicaState state = view_->residency(id, node_);
    const bool differs = datum.waiting > 0 && (state != ReplicaState::absent) != datum.present;
    if (differs) tasks += datum.waiting;
    datum.touched = datum.waiting > 0 && (differs || state == ReplicaState::evicting);
    return !datum.touched;
  });
  return tasks;
}

void MissingBytes::update() {
  for (const DatumId id : touched_) {
    Datum& datum = data_[index(id)];
    const bool now = present(id);
    if (now == datum.present || datum.waiting == 0) continue;
    datum.present = now;
    std::erase_if(datum.readers, &Reader::gone);
    for (const Reader& reader : datum.readers) {
      Queued& queued = *reader.queued;
      queued.missing = now ? queued.missing - datum.bytes : queued.missing + datum.bytes;
      reader.queue->missing_changed(queued);
    }
  }
  outdated();  // keeps the data that must be checked again
}

}  // namespace fairlead::schedule
