// The parts of a runtime that its public header does not name: for the library, the command and tests.
#pragma once
#include <fairlead/detail/description.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstddef>
#include <memory>
#include <string>

#include "engine/runtime_core.hpp"
#include "engine/trace_snapshot.hpp"
#include "front/live/live_progress.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

engine::RuntimeCore& core_of(Runtime& runtime) noexcept;
class Checkpointer;
/// Null: the setting `checkpoint` is not set.
Checkpointer* checkpointer_of(Runtime& runtime) noexcept;
/// Null: there are no other ranks.
net::Communicator* communicator_of(Runtime& runtime) noexcept;
// Registration without types: see the typed functions of Runtime, which reduce to the same.
fairlead::detail::DatumReference register_datum(Runtime& runtime, const std::string& name,
                                                const fairlead::detail::Description& as);
void remove_datum(Runtime& runtime, const fairlead::detail::DatumReference& reference);
std::shared_ptr<fairlead::detail::TileCollection> make_tiles(Runtime& runtime, const std::string& name,
                                                             const fairlead::detail::Tiling& tiling,
                                                             std::size_t element_bytes,
                                                             fairlead::detail::Fill content);
/// The live page shows this progress: see LiveProgressSource::set().
void show_live_progress(Runtime& runtime, LiveProgressSource::Function progress);
/// The recording so far, if the setting `trace` or `report` enables it. No flow may have unfinished tasks.
trace::Snapshot recorded_by(Runtime& runtime);

}  // namespace fairlead::front
