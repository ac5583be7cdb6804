// See wire.hpp.
#include "backend/opencl/wire.hpp"

#include <array>
#include <cerrno>
#include <utility>

namespace fairlead::backend::cl {

namespace {

/// A datum of several runs as OpenCL has it: the box that is copied, and where its rows and slices begin in the
/// program's memory. On the device they lie one after the other.
struct Box {
  explicit Box(const data::Layout& layout)
      : region{layout.run_bytes, layout.counts[0], layout.counts[1]},
        row_pitch(layout.counts[0] > 1 ? layout.strides[0] : layout.run_bytes),
        slice_pitch(layout.counts[1] > 1 ? layout.strides[1] : row_pitch * layout.counts[0]) {}
  /// OpenCL wants slices to be whole numbers of rows, and later ones to begin behind earlier ones.
  bool as_opencl_has_it() const noexcept {
    return row_pitch >= region[0] && slice_pitch >= region[1] * row_pitch && slice_pitch % row_pitch == 0;
  }
  std::array<std::size_t, 3> region;
  std::size_t row_pitch, slice_pitch;
};

constexpr std::array<std::size_t, 3> no_offset{0, 0, 0};

}  // namespace

DeviceWire::DeviceWire(const OpenDevice& device) : device_(device) {
  try {
    for (Way& way : ways_) way.queue = device_.make_queue();
    for (Way& way : ways_) way.thread = std::thread([this, &way] { run(way); });
  } catch (...) {
    stop();
    for (const Way& way : ways_)
      if (way.queue != nullptr) device_.release(way.queue);
    throw;
  }
}

DeviceWire::~DeviceWire() {
  stop();
  for (const Way& way : ways_) device_.release(way.queue);
}

void DeviceWire::start(const Load& load) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    ways_[load.away_from_home ? 0 : 1].loads.push_back(load);
  }
  changed_.notify_all();  // the other way's thread waits there, too
}

void DeviceWire::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Way& way : ways_) way.loads.clear();
  }
  changed_.notify_all();
  for (Way& way : ways_)
    if (way.thread.joinable()) way.thread.join();
}

void DeviceWire::run(Way& way) {
  for (;;) {
    Load load;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !way.loads.empty(); });
      if (ending_) return;
      load = way.loads.front();
      way.loads.pop_front();
    }
    const Outcome outcome = move(way, load);
    load.receiver->over(load.token, outcome);
  }
}

Outcome DeviceWire::move(Way& way, const Load& load) const {
  try {
    const Status status = load.away_from_home ? write(way, load) : read(way, load);
    if (status == success) return {};
    return {.error_number = EIO,
            .words = device_.problem(status, load.away_from_home ? "writing to it" : "reading from it"),
            .failure = nullptr};
  } catch (...) {  // what the program's own function throws, or no memory
    return {.error_number = EIO, .failure = std::current_exception()};
  }
}

Status DeviceWire::write(Way& way, const Load& load) const {
  const auto [buffer, offset] = device_.at(load.to.offset);
  const std::byte* from = load.from.host;
  if (load.layout != nullptr) {
    const Box box(*load.layout);
    if (!load.layout->pack_all && box.as_opencl_has_it()) {
      const std::array<std::size_t, 3> there{offset, 0, 0};
      return device_.driver().clEnqueueWriteBufferRect(way.queue, buffer, yes, there.data(), no_offset.data(),
                                                       box.region.data(), 0, 0, box.row_pitch,
                                                       box.slice_pitch, from, 0, nullptr, nullptr);
    }
    way.packed.resize(load.bytes);
    load.layout->pack(from, way.packed.data());
    from = way.packed.data();
  }
  return device_.driver().clEnqueueWriteBuffer(way.queue, buffer, yes, offset, load.bytes, from, 0, nullptr,
                                               nullptr);
}

Status DeviceWire::read(Way& way, const Load& load) const {
  const auto [buffer, offset] = device_.at(load.from.offset);
  const Driver& driver = device_.driver();
  if (load.layout == nullptr)
    return driver.clEnqueueReadBuffer(way.queue, buffer, yes, offset, load.bytes, load.to.host, 0, nullptr,
                                      nullptr);
  const Box box(*load.layout);
  if (!load.layout->unpack_all && box.as_opencl_has_it()) {
    const std::array<std::size_t, 3> there{offset, 0, 0};
    return driver.clEnqueueReadBufferRect(way.queue, buffer, yes, there.data(), no_offset.data(),
                                          box.region.data(), 0, 0, box.row_pitch, box.slice_pitch,
                                          load.to.host, 0, nullptr, nullptr);
  }
  way.packed.resize(load.bytes);
  const Status status = driver.clEnqueueReadBuffer(way.queue, buffer, yes, offset, load.bytes,
                                                   way.packed.data(), 0, nullptr, nullptr);
  if (status == success) load.layout->unpack(way.packed.data(), load.to.host);
  return status;
}

}  // namespace fairlead::backend::cl
