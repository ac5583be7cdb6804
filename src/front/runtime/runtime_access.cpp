// Access to the parts of a runtime that its public header does not name.
#include "front/runtime/runtime_access.hpp"

#include <utility>

#include "front/runtime/implementation.hpp"
#include "front/runtime/read_only_data.hpp"

namespace fairlead {

struct detail::RuntimeAccess {
  static Runtime::Implementation& of(Runtime& runtime) noexcept { return *runtime.implementation_; }
  static std::shared_ptr<TileCollection> tiles(Runtime& runtime, const std::string& name,
                                               const Tiling& tiling, std::size_t element_bytes,
                                               Fill content) {
    return runtime.make_tiles(name, tiling.rows, tiling.columns, tiling.tile,
                              tiling.lower_only ? Tiles::lower : Tiles::all, element_bytes,
                              std::move(content));
  }
  static DatumReference add(Runtime& runtime, const std::string& name, const Description& as) {
    return runtime.register_one(name, as);
  }
  static void remove(Runtime& runtime, const DatumReference& reference) { runtime.remove_one(reference); }
};

std::shared_ptr<detail::TileCollection> front::make_read_only_tiles(Runtime& runtime, const std::string& name,
                                                                    const detail::Tiling& tiling,
                                                                    std::size_t element_bytes,
                                                                    detail::Fill content) {
  return make_tiles(runtime, name, tiling, element_bytes, ReadOnlyFill{std::move(content)});
}
std::shared_ptr<detail::TileCollection> front::make_tiles(Runtime& runtime, const std::string& name,
                                                          const detail::Tiling& tiling,
                                                          std::size_t element_bytes, detail::Fill content) {
  return detail::RuntimeAccess::tiles(runtime, name, tiling, element_bytes, std::move(content));
}
detail::DatumReference front::register_datum(Runtime& runtime, const std::string& name,
                                             const detail::Description& as) {
  return detail::RuntimeAccess::add(runtime, name, as);
}
void front::remove_datum(Runtime& runtime, const detail::DatumReference& reference) {
  detail::RuntimeAccess::remove(runtime, reference);
}
detail::DatumReference front::make_read_only_datum(Runtime& runtime, const std::string& name,
                                                   detail::Description as, detail::Fill content) {
  as.fill = ReadOnlyFill{std::move(content)};
  return detail::RuntimeAccess::add(runtime, name, as);
}

engine::RuntimeCore& front::core_of(Runtime& runtime) noexcept {
  return detail::RuntimeAccess::of(runtime).core;
}
front::Checkpointer* front::checkpointer_of(Runtime& runtime) noexcept {
  return detail::RuntimeAccess::of(runtime).checkpointer.get();
}
net::Communicator* front::communicator_of(Runtime& runtime) noexcept {
  RankContext* const ranks = rank_context(core_of(runtime).surroundings());
  return !ranks ? nullptr : &ranks->communicator();
}
void front::show_live_progress(Runtime& runtime, LiveProgressSource::Function progress) {
  detail::RuntimeAccess::of(runtime).monitors.live.progress().set(std::move(progress));
}
trace::Snapshot front::recorded_by(Runtime& runtime) {
  engine::RuntimeCore& core = core_of(runtime);
  core.caller().check("recorded");
  trace::Snapshot snapshot = detail::RuntimeAccess::of(runtime).recorded();
  if (const RankContext* const ranks = rank_context(core.surroundings())) ranks->values().add_to(snapshot);
  return snapshot;
}

}  // namespace fairlead
