// Blocking reads and writes of a device buffer.
#include "backend/opencl/device_link.hpp"

#include <array>
#include <cerrno>

namespace fairlead::backend::cl {

namespace {

/// A strided datum in OpenCL's terms: the copied box, and the pitches of rows and slices in the program's memory. On
/// the device it is packed.
struct Box {
  explicit Box(const data::HomeLayout& layout)
      : region{layout.run_bytes, layout.counts[0], layout.counts[1]},
        row_pitch(layout.counts[0] > 1 ? layout.strides[0] : layout.run_bytes),
        slice_pitch(layout.counts[1] > 1 ? layout.strides[1] : row_pitch * layout.counts[0]) {}
  /// OpenCL requires slices to be whole numbers of rows, and rows and slices not to overlap.
  bool as_opencl_has_it() const noexcept {
    return row_pitch >= region[0] && slice_pitch >= region[1] * row_pitch && slice_pitch % row_pitch == 0;
  }
  std::array<std::size_t, 3> region;
  std::size_t row_pitch, slice_pitch;
};

constexpr std::array<std::size_t, 3> no_offset{0, 0, 0};

}  // namespace

OpenclDeviceLink::OpenclDeviceLink(const OpenclDevice& device) : DriverLink(1), device_(device) {
  try {
    for (Way& way : ways_) way.queue = device_.make_queue();
    begin_threads();
  } catch (...) {
    stop();
    for (const Way& way : ways_)
      if (way.queue != nullptr) device_.release(way.queue);
    throw;
  }
}

OpenclDeviceLink::~OpenclDeviceLink() {
  stop();
  for (const Way& way : ways_) device_.release(way.queue);
}

TransferResult OpenclDeviceLink::start_copy(unsigned direction, unsigned, const Transfer& load) {
  Way& way = ways_[direction];
  const Status status = direction == to_device ? write(way, load) : read(way, load);
  if (status == success) return {};
  return {
      .error_number = EIO,
      .description = device_.problem(status, direction == to_device ? "writing to it" : "reading from it"),
      .failure = nullptr};
}

Status OpenclDeviceLink::write(Way& way, const Transfer& load) const {
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

Status OpenclDeviceLink::read(Way& way, const Transfer& load) const {
  const auto [buffer, offset] = device_.at(load.from.offset);
  const OpenclDriver& driver = device_.driver();
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
