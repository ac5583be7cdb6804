// The names of data, by id, for errors and reports. Any thread may read them.
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
  /// Allocates space so that the next add() needs no memory. Like all functions that change names, called by one
  /// thread.
  void make_room() {
    if (data_.capacity() != data_.size()) return;
    const std::lock_guard guard(mutex_);
    data_.reserve(2 * data_.size() + 64);
  }
  /// The datum's id, name and owner are set, and must not change until it is removed.
  void add(const RegisteredDatum& datum) noexcept {
    const std::lock_guard guard(mutex_);
    if (index(datum.id) >= data_.size()) data_.resize(index(datum.id) + 1u);
    data_[index(datum.id)] = &datum;
  }
  void remove(DatumId id) noexcept { forget(id, keep_); }
  /// Keeps the datum's current name after its owner is destroyed. For a datum that stays registered because the run was
  /// stopped.
  void fix(DatumId id) noexcept { forget(id, true); }
  /// From now on removed data keep their names, too. Only for runs that do not reuse ids.
  void keep() noexcept { keep_ = true; }

  /// The datum's name, or "datum 4" if it has none.
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
      // Without memory, the datum is shown by its number.
    }
  }

  mutable std::mutex mutex_;
  std::vector<const RegisteredDatum*> data_;  // by id; null: removed
  std::map<DatumId, std::string> gone_;
  bool keep_ = false;
};

}  // namespace fairlead::engine
