// Opens datasets. A contiguous dataset is read from the file itself, as a raw file; HDF5's library reads chunks.
#include "data/hdf5/hdf5_dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <fairlead/error.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "data/hdf5/hdf5_library.hpp"
#include "data/matrix/chunked_matrix.hpp"
#include "data/matrix/element_file.hpp"
#include "data/matrix/regular_file.hpp"

namespace fairlead::data {
namespace {

using Library = std::shared_ptr<const Hdf5Library>;
using Object = Hdf5Library::Object;
using Size = Hdf5Library::Size;
constexpr Hdf5Library::Id default_properties = 0;  // H5P_DEFAULT

/// An open dataset. Access to the library is needed to open it, to read and to destroy it.
struct Dataset {
  Object file, dataset, space;
};

/// The type of the elements: a number, or a complex one, which is a compound of its two parts.
struct NumberType {
  Object part;                     ///< of a real number its own type
  std::vector<std::string> names;  ///< of the parts; empty: a real number
  bool is_complex() const noexcept { return !names.empty(); }
};

/// Parts are named r and i by h5py, and real and imag, or re and im, by others.
bool are_parts(const std::vector<std::string>& names) {
  return names.size() == 2 && names[0].starts_with('r') && names[1].starts_with('i');
}

/// Nothing if the type is neither.
std::optional<NumberType> number_type(const Hdf5Library& hdf5, Object type) {
  if (hdf5.H5Tget_class(type.get()) == Hdf5Library::class_float) return NumberType{std::move(type), {}};
  if (hdf5.H5Tget_class(type.get()) != Hdf5Library::class_compound || hdf5.H5Tget_nmembers(type.get()) != 2)
    return std::nullopt;
  NumberType complex;
  Object parts[2];
  for (const unsigned i : {0u, 1u}) {
    char* const name = hdf5.H5Tget_member_name(type.get(), i);
    complex.names.emplace_back(name == nullptr ? "" : name);
    hdf5.H5free_memory(name);
    parts[i] = {hdf5.H5Tget_member_type(type.get(), i), hdf5.H5Tclose};
    if (!parts[i] || hdf5.H5Tget_class(parts[i].get()) != Hdf5Library::class_float) return std::nullopt;
  }
  const std::size_t bytes = hdf5.H5Tget_size(parts[0].get());
  if (!are_parts(complex.names) || hdf5.H5Tequal(parts[0].get(), parts[1].get()) <= 0 ||
      hdf5.H5Tget_member_offset(type.get(), 0) != 0 || hdf5.H5Tget_member_offset(type.get(), 1) != bytes ||
      hdf5.H5Tget_size(type.get()) != 2 * bytes)
    return std::nullopt;
  complex.part = std::move(parts[0]);
  return complex;
}

/// The type in memory.
Object memory_type(const Hdf5Library& hdf5, const std::vector<std::string>& names, bool in_single) {
  const Hdf5Library::Id native = hdf5.native(in_single);
  const std::size_t bytes = in_single ? sizeof(float) : sizeof(double);
  Object complex(hdf5.H5Tcreate(Hdf5Library::class_compound, 2 * bytes), hdf5.H5Tclose);
  for (std::size_t i = 0; i < names.size(); ++i)
    hdf5.H5Tinsert(complex.get(), names[i].c_str(), i * bytes, native);
  return complex;
}

class Hdf5Store final : public ChunkStore {
 public:
  Hdf5Store(Library library, Dataset dataset, std::shared_ptr<const RegularFile> file, std::string name,
            ArrayLayout layout, ChunkShape chunk, std::vector<std::string> parts)
      : library_(std::move(library)),
        dataset_(std::move(dataset)),
        file_(std::move(file)),
        name_(std::move(name)),
        layout_(std::move(layout)),
        chunk_(chunk),
        parts_(std::move(parts)) {}
  ~Hdf5Store() override {
    const Hdf5Library::Access access(*library_);
    dataset_ = {};
  }

  void read_chunk(std::uint64_t row, std::uint64_t column, std::span<std::byte> into) const override {
    const std::vector<Size> memory_size = sizes(chunk_.rows, chunk_.columns);
    const std::vector<Size> begin = sizes(row * chunk_.rows, column * chunk_.columns);
    std::vector<Size> count(memory_size.size());
    for (std::size_t i = 0; i < count.size(); ++i)
      count[i] = std::min<Size>(memory_size[i], layout_.shape[i] - begin[i]);
    const Hdf5Library& hdf5 = *library_;
    const Hdf5Library::Access access(hdf5);
    const Object memory(hdf5.H5Screate_simple(static_cast<int>(count.size()), memory_size.data(), nullptr),
                        hdf5.H5Sclose);
    const std::vector<Size> zeros(count.size());
    constexpr int select_set = 0;
    const bool in_single = is_single(layout_.element);
    const Object complex = parts_.empty() ? Object() : memory_type(hdf5, parts_, in_single);
    if (!memory ||
        hdf5.H5Sselect_hyperslab(memory.get(), select_set, zeros.data(), nullptr, count.data(), nullptr) <
            0 ||
        hdf5.H5Sselect_hyperslab(dataset_.space.get(), select_set, begin.data(), nullptr, count.data(),
                                 nullptr) < 0 ||
        hdf5.H5Dread(dataset_.dataset.get(), parts_.empty() ? hdf5.native(in_single) : complex.get(),
                     memory.get(), dataset_.space.get(), default_properties, into.data()) < 0)
      throw InputError(fmt::format("{}: cannot be read from element ({}) on: {}", name_,
                                   fmt::join(begin, ", "), hdf5.last_error()));
    Bytes bytes = bytes_of(layout_.element);
    for (const Size size : count) bytes *= size;
    bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
    file_->forget_pages();
  }

  FileVersion version() const noexcept override { return file_->version(); }
  bool changed() const noexcept override { return file_->changed(); }
  Bytes bytes_read() const noexcept override { return bytes_read_.load(std::memory_order_relaxed); }
  void forget_pages() const noexcept override { file_->forget_pages(); }

 private:
  /// In as many dimensions as the dataset has.
  std::vector<Size> sizes(Size rows, Size columns) const {
    return layout_.shape.size() == 1 ? std::vector{rows} : std::vector{rows, columns};
  }

  Library library_;
  Dataset dataset_;
  std::shared_ptr<const RegularFile> file_;
  std::string name_;
  ArrayLayout layout_;
  ChunkShape chunk_;
  std::vector<std::string> parts_;             // names of the parts of complex numbers
  mutable std::atomic<Bytes> bytes_read_ = 0;  // decoded
};

/// The paths of all datasets in a group.
void list_datasets(const Hdf5Library& hdf5, Hdf5Library::Id file, const std::string& group, int levels,
                   std::vector<std::string>& all) {
  constexpr std::size_t most = 1000;
  const Object opened(hdf5.H5Gopen2(file, group.c_str(), default_properties), hdf5.H5Gclose);
  Size count = 0;
  if (!opened || levels == 0 || hdf5.H5Gget_num_objs(opened.get(), &count) < 0) return;
  for (Size i = 0; i < count && all.size() < most; ++i) {
    std::array<char, 1024> name{};
    if (hdf5.H5Gget_objname_by_idx(opened.get(), i, name.data(), name.size()) < 0) continue;
    const std::string path = (group == "/" ? "" : group) + "/" + name.data();
    const int type = hdf5.H5Gget_objtype_by_idx(opened.get(), i);
    if (type == Hdf5Library::object_dataset) all.push_back(path);
    if (type == Hdf5Library::object_group) list_datasets(hdf5, file, path, levels - 1, all);
  }
}

std::string datasets_text(const std::string& path, const std::vector<std::string>& all) {
  if (all.empty()) return "it contains no dataset";
  std::vector<std::string> names;
  for (const std::string& one : all) {
    if (names.size() == 10) break;
    names.push_back(fmt::format("{}::{}", path, one));
  }
  return fmt::format("it contains {}{}", fmt::join(names, ", "), names.size() < all.size() ? ", ..." : "");
}

/// Throws InputError if a filter of the dataset is not available.
void require_filters(const Hdf5Library& hdf5, const Object& properties, const std::string& name) {
  const int count = hdf5.H5Pget_nfilters(properties.get());
  for (int i = 0; i < count; ++i) {
    std::array<char, 256> text{};
    std::size_t values = 0;
    const int filter = hdf5.H5Pget_filter2(properties.get(), static_cast<unsigned>(i), nullptr, &values,
                                           nullptr, text.size(), text.data(), nullptr);
    if (filter >= 0 && hdf5.H5Zfilter_avail(filter) > 0) continue;
    throw InputError(fmt::format(
        "{}: is compressed by the HDF5 filter {} ({}), which is not installed (Debian: apt install "
        "hdf5-filter-plugin; the variable HDF5_PLUGIN_PATH names the directory of other plug-ins)",
        name, filter, text.data()));
  }
}

/// `stored`: the type of the elements if it is supported.
ArrayLayout layout_of_dataset(const Hdf5Library& hdf5, const Dataset& opened, int kind,
                              const std::optional<NumberType>& stored, std::size_t bytes,
                              const std::string& name) {
  ArrayLayout layout;
  const int dimensions = hdf5.H5Sget_simple_extent_ndims(opened.space.get());
  layout.shape.resize(static_cast<std::size_t>(std::max(dimensions, 0)));
  if (dimensions > 0) hdf5.H5Sget_simple_extent_dims(opened.space.get(), layout.shape.data(), nullptr);
  const std::size_t bytes_of_part = stored ? hdf5.H5Tget_size(stored->part.get()) : 0;
  if (bytes_of_part != sizeof(float) && bytes_of_part != sizeof(double))
    throw InputError(fmt::format(
        "{}: holds {}; supported are 32- and 64-bit floating point and complex numbers of these", name,
        kind == Hdf5Library::class_float     ? fmt::format("{}-bit floating point numbers", 8 * bytes)
        : kind == Hdf5Library::class_integer ? fmt::format("{}-bit integers", 8 * bytes)
                                             : "elements of another type than numbers"));
  layout.element = element_type(bytes_of_part == sizeof(float), stored->is_complex());
  require_matrix_shape(name, layout);
  return layout;
}

ChunkShape chunk_of(const Hdf5Library& hdf5, const Object& properties, const ArrayLayout& layout) {
  std::array<Size, 2> chunk{1, 1};
  if (hdf5.H5Pget_layout(properties.get()) == Hdf5Library::layout_chunked) {
    hdf5.H5Pget_chunk(properties.get(), static_cast<int>(layout.shape.size()), chunk.data());
  } else {  // whole rows, if they are not too long
    constexpr Bytes preferred_bytes = Bytes{1} << 20;
    const Size most = preferred_bytes / bytes_of(layout.element);
    if (layout.shape.size() == 2) chunk[1] = std::min<Size>(layout.shape[1], most);
    chunk[0] = std::min<Size>(layout.shape[0], std::max<Size>(1, most / chunk[1]));
  }
  return {chunk[0], chunk[1], StorageOrder::c};
}

/// The dataset of an open file, whose elements are contiguous in the file; otherwise null.
std::shared_ptr<const StoredMatrix> contiguous(const Hdf5Library& hdf5, const Dataset& opened,
                                               const Object& type, const Object& properties,
                                               ArrayLayout layout,
                                               const std::shared_ptr<const RegularFile>& file,
                                               const std::string& name) {
  constexpr Size undefined = ~Size{0};
  const bool in_single = is_single(layout.element);
  const bool big = hdf5.is_ieee(type.get(), in_single, true),
             little = hdf5.is_ieee(type.get(), in_single, false);
  if (hdf5.H5Pget_layout(properties.get()) != Hdf5Library::layout_contiguous ||
      hdf5.H5Pget_external_count(properties.get()) > 0 || !(big || little))
    return nullptr;
  const Size offset = hdf5.H5Dget_offset(opened.dataset.get());
  if (offset == undefined) return nullptr;  // nothing was written: HDF5 gives the fill value
  layout.byte_swapped = big == (std::endian::native == std::endian::little);
  if (offset > file->bytes() || layout.data_bytes() > file->bytes() - offset)
    throw InputError(
        fmt::format("{}: is truncated: the file has {} bytes, and the dataset needs {} from byte {} on", name,
                    file->bytes(), layout.data_bytes(), offset));
  return std::make_shared<const ElementFile>(name, file, std::move(layout), offset);
}

std::shared_ptr<const StoredMatrix> open_hdf5(const std::filesystem::path& path, const std::string& inside) {
  const auto file = std::make_shared<const RegularFile>(path);
  const Library library = Hdf5Library::load(file->name());
  const Hdf5Library& hdf5 = *library;
  const Hdf5Library::Access access(hdf5);
  Dataset opened;
  constexpr unsigned read_only = 0;
  opened.file = {hdf5.H5Fopen(path.c_str(), read_only, default_properties), hdf5.H5Fclose};
  if (!opened.file)
    throw InputError(fmt::format("{}: HDF5 cannot open it: {}", file->name(), hdf5.last_error()));

  constexpr int most_levels = 32;
  std::string dataset = inside.empty() || inside.front() == '/' ? inside : "/" + inside;
  if (dataset.empty()) {
    std::vector<std::string> all;
    list_datasets(hdf5, opened.file.get(), "/", most_levels, all);
    if (all.size() != 1)
      throw InputError(fmt::format("{}: name a dataset of this HDF5 file: {}", file->name(),
                                   datasets_text(file->name(), all)));
    dataset = all.front();
  }
  const std::string name = fmt::format("{}::{}", file->name(), dataset);
  opened.dataset = {hdf5.H5Dopen2(opened.file.get(), dataset.c_str(), default_properties), hdf5.H5Dclose};
  if (!opened.dataset) {
    const std::string reason = hdf5.last_error();
    std::vector<std::string> all;
    list_datasets(hdf5, opened.file.get(), "/", most_levels, all);
    throw InputError(
        fmt::format("{}: cannot be opened: {}; {}", name, reason, datasets_text(file->name(), all)));
  }
  opened.space = {hdf5.H5Dget_space(opened.dataset.get()), hdf5.H5Sclose};
  Object type(hdf5.H5Dget_type(opened.dataset.get()), hdf5.H5Tclose);
  const Object properties(hdf5.H5Dget_create_plist(opened.dataset.get()), hdf5.H5Pclose);
  if (!opened.space || !type || !properties)
    throw InputError(fmt::format("{}: cannot be examined: {}", name, hdf5.last_error()));

  const int kind = hdf5.H5Tget_class(type.get());
  const std::size_t bytes = hdf5.H5Tget_size(type.get());
  std::optional<NumberType> stored = number_type(hdf5, std::move(type));
  ArrayLayout layout = layout_of_dataset(hdf5, opened, kind, stored, bytes, name);
  if (auto matrix = contiguous(hdf5, opened, stored->part, properties, layout, file, name)) return matrix;
  require_filters(hdf5, properties, name);
  const ChunkShape chunk = chunk_of(hdf5, properties, layout);
  auto store = std::make_shared<const Hdf5Store>(library, std::move(opened), file, name, layout, chunk,
                                                 std::move(stored->names));
  return std::make_shared<const ChunkedMatrix>(name, std::move(layout), chunk, std::move(store));
}

}  // namespace

const MatrixFormat hdf5_format{
    .name = "an HDF5 file",
    .recognizes =
        [](const std::filesystem::path&, std::string_view first_bytes) {
          // The signature may follow a block of the user.
          for (const std::size_t at : {0u, 512u, 1024u, 2048u})
            if (first_bytes.size() > at && first_bytes.substr(at).starts_with("\x89HDF\r\n\x1a\n"))
              return true;
          return false;
        },
    .open = open_hdf5};

}  // namespace fairlead::data
