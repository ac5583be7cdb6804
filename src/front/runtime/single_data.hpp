// Data that are registered one by one: values, vectors, matrices, blocks, and objects of the user's. They
// stay until they are removed or the runtime ends.
#pragma once
#include <fairlead/detail/description.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/disk/spill_file.hpp"
#include "data/layout.hpp"
#include "engine/datum_views.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/datum_store.hpp"
#include "front/runtime/generated_array.hpp"

namespace fairlead::front {

/// A datum that is a whole of its own, not a tile of a matrix.
struct SingleDatum {
  std::string name;
  engine::RegisteredDatum* datum = nullptr;     ///< null when it was removed
  detail::Description as{};                     ///< how it was registered
  std::optional<data::Layout> layout{};         ///< in the user's memory, if that is not one block
  std::shared_ptr<engine::DatumViews> views{};  ///< of it and its partitions, if it was ever split
  memory::Range slot{};                         ///< in the spill file, if it is kept
  std::unique_ptr<GeneratedArray> generator{};  ///< if it is computed until something writes it
};

class SingleData {
 public:
  SingleData(DatumStore& store, backend::SpillFile& spill) : store_(store), spill_(spill) {}

  /// Throws UsageError for what is no datum, SystemError if the disk has no space for it.
  SingleDatum& add(engine::RuntimeCore& core, const std::string& name, const detail::Description& as);
  /// Nobody uses it any more.
  void remove(engine::RuntimeCore& core, SingleDatum& single);
  /// The one that this is, or null if it is a tile.
  static SingleDatum* find(const engine::RegisteredDatum& datum) noexcept;

 private:
  SingleDatum& add_shared(engine::RuntimeCore& core, const std::string& name, const detail::Description& as,
                          Bytes bytes);
  SingleDatum& keep(SingleDatum&& single);
  static std::string text_of(const void* owner, const engine::RegisteredDatum&);

  DatumStore& store_;
  backend::SpillFile& spill_;
  std::deque<SingleDatum> all_;
  std::vector<SingleDatum*> free_;  // of all_: those that were removed; has space for all
};

}  // namespace fairlead::front
