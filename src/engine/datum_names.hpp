// How data are called in errors and reports, by their ids, for any thread.
#pragma once
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/registered_datum.hpp"

namespace fairlead::engine {

class DatumNames {
 public:
  /// One more may be added then without need of memory. Called, as all that changes names, by one thread.
  void make_room() {
    if (data_.capacity() != data_.size()) return;
    const std::lock_guard guard(mutex_);
    data_.reserve(2 * data_.size() + 64);
  }
  /// Its id, name and owner are set, and stay until it is removed.
  void add(const RegisteredDatum& datum) noexcept {
    const std::lock_guard guard(mutex_);
    if (index(datum.id) >= data_.size()) data_.resize(index(datum.id) + 1u);
    data_[index(datum.id)] = &datum;
  }
  void remove(DatumId id) noexcept { forget(id, keep_); }
  /// Who named it goes, but the datum stays registered, since the run was stopped: so does its name.
  void fix(DatumId id) noexcept { forget(id, true); }
  /// What is removed from now on keeps its name, too. Where ids are not used again.
  void keep() noexcept { keep_ = true; }

  /// "datum 4" if nobody has named it.
  std::string text(DatumId id) const {
    const std::lock_guard guard(mutex_);
    if (index(id) < data_.size() && data_[index(id)] != nullptr) return data_[index(id)]->text();
    const auto gone = gone_.find(id);
    return gone != gone_.end() ? gone->second : "datum " + std::to_string(index(id));
  }

 private:
  void forget(DatumId id, bool keep) noexcept {
    const std::lock_guard guard(mutex_);
    if (index(id) >= data_.size() || data_[index(id)] == nullptr) return;
    const RegisteredDatum& datum = *std::exchange(data_[index(id)], nullptr);
    if (!keep) return;
    try {
      gone_[id] = datum.text();
    } catch (const std::bad_alloc&) {
      // Then it is called by its number.
    }
  }

  mutable std::mutex mutex_;
  std::vector<const RegisteredDatum*> data_;  // by id; null: gone
  std::map<DatumId, std::string> gone_;
  bool keep_ = false;
};

}  // namespace fairlead::engine
