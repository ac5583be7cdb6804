// Data registered one by one: values, vectors, matrices, blocks and user-defined objects. They exist until they are
// removed or the runtime ends.
#pragma once
#include <fairlead/detail/description.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/disk/spill_file.hpp"
#include "data/home_layout.hpp"
#include "engine/datum_views.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/datum_store.hpp"
#include "front/runtime/generated_array.hpp"

namespace fairlead::front {

/// A datum that is neither a tile of a matrix nor a block of a partition.
struct SingleDatum {
  std::string name;
  engine::RegisteredDatum* datum = nullptr;     ///< null after removal
  detail::Description as{};                     ///< the arguments of the registration
  std::optional<data::HomeLayout> layout{};     ///< of non-contiguous data in the user's memory
  std::shared_ptr<engine::DatumViews> views{};  ///< the datum and its partitions, if it was ever split
  memory::ByteRange slot{};                     ///< in the spill file, if the runtime stores the datum
  std::unique_ptr<GeneratedArray> generator{};  ///< if the datum is computed until a task writes it
};

class SingleData {
 public:
  SingleData(DatumStore& store, backend::SpillFile& spill) : store_(store), spill_(spill) {}

  /// Throws UsageError for an invalid datum, SystemError if the disk lacks the space.
  SingleDatum& add(engine::RuntimeCore& core, const std::string& name, const detail::Description& as);
  /// Removes a datum that is no longer in use.
  void remove(engine::RuntimeCore& core, SingleDatum& single);
  /// The SingleDatum of `datum`; null if it is a tile or a block of a partition.
  static SingleDatum* find(const engine::RegisteredDatum& datum) noexcept;

 private:
  SingleDatum& add_shared(engine::RuntimeCore& core, const std::string& name, const detail::Description& as,
                          Bytes bytes);
  SingleDatum& keep(SingleDatum&& single);
  static std::string text_of(const void* owner, const engine::RegisteredDatum&);

  DatumStore& store_;
  backend::SpillFile& spill_;
  std::deque<SingleDatum> all_;
  std::vector<SingleDatum*> free_;  // removed elements of all_; has capacity for all of them
};

}  // namespace fairlead::front
