// HDF5's library, loaded at run time: the functions of its C interface that reading needs, with the names, types and
// numbers of its headers, version 1.10 and later.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/shared_library.hpp"

namespace fairlead::data {

/// The functions of HDF5's library about types.
struct Hdf5TypeFunctions {
  using Id = std::int64_t;  // hid_t

  // NOLINTBEGIN(readability-identifier-naming): the names of HDF5
  int (*H5Tclose)(Id);
  int (*H5Tget_class)(Id);
  std::size_t (*H5Tget_size)(Id);
  int (*H5Tequal)(Id, Id);
  int (*H5Tget_nmembers)(Id);
  char* (*H5Tget_member_name)(Id, unsigned);
  Id (*H5Tget_member_type)(Id, unsigned);
  std::size_t (*H5Tget_member_offset)(Id, unsigned);
  Id (*H5Tcreate)(int, std::size_t);
  int (*H5Tinsert)(Id, const char*, std::size_t, Id);
  // NOLINTEND(readability-identifier-naming)
};

class Hdf5Library : public Hdf5TypeFunctions {
 public:
  using Size = std::uint64_t;  // hsize_t, haddr_t

  /// `name`: of the file, for messages. Throws InputError that names the package if there is no library.
  static std::shared_ptr<const Hdf5Library> load(const std::string& name);

  /// An object of HDF5, closed at the end.
  class Object {
   public:
    Object() = default;
    Object(Id id, int (*close)(Id)) noexcept : id_(id), close_(close) {}
    Object(Object&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Object& operator=(Object&& other) noexcept {
      std::swap(id_, other.id_);
      std::swap(close_, other.close_);
      return *this;
    }
    ~Object() {
      if (id_ >= 0) close_(id_);
    }
    Id get() const noexcept { return id_; }
    explicit operator bool() const noexcept { return id_ >= 0; }

   private:
    Id id_ = -1;
    int (*close_)(Id) = nullptr;
  };

  /// Access to the library by one thread; HDF5 prints no errors.
  class Access {
   public:
    explicit Access(const Hdf5Library& library);
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
    ~Access();

   private:
    const Hdf5Library& library_;
    std::unique_lock<std::recursive_mutex> lock_;
    void* printer_ = nullptr;
    void* printer_data_ = nullptr;
  };

  /// The innermost reason of the last failure of this thread.
  std::string last_error() const;

  Id native(bool in_single) const noexcept { return *(in_single ? native_float_ : native_double_); }
  /// Whether the type has that format: IEEE, little- or big-endian.
  bool is_ieee(Id type, bool in_single, bool big_endian) const noexcept;

  // enum values of the headers
  enum : int { class_integer = 0, class_float = 1, class_compound = 6 };
  enum : int { layout_compact = 0, layout_contiguous = 1, layout_chunked = 2 };
  enum : int { object_group = 0, object_dataset = 1 };

  // NOLINTBEGIN(readability-identifier-naming): the names of HDF5
  Id (*H5Fopen)(const char*, unsigned, Id);
  int (*H5Fclose)(Id);
  Id (*H5Gopen2)(Id, const char*, Id);
  int (*H5Gclose)(Id);
  int (*H5Gget_num_objs)(Id, Size*);
  std::ptrdiff_t (*H5Gget_objname_by_idx)(Id, Size, char*, std::size_t);
  int (*H5Gget_objtype_by_idx)(Id, Size);
  Id (*H5Dopen2)(Id, const char*, Id);
  int (*H5Dclose)(Id);
  Id (*H5Dget_space)(Id);
  Id (*H5Dget_type)(Id);
  Id (*H5Dget_create_plist)(Id);
  Size (*H5Dget_offset)(Id);
  int (*H5Dread)(Id, Id, Id, Id, Id, void*);
  Id (*H5Screate_simple)(int, const Size*, const Size*);
  int (*H5Sclose)(Id);
  int (*H5Sget_simple_extent_ndims)(Id);
  int (*H5Sget_simple_extent_dims)(Id, Size*, Size*);
  int (*H5Sselect_hyperslab)(Id, int, const Size*, const Size*, const Size*, const Size*);
  int (*H5free_memory)(void*);
  int (*H5Pclose)(Id);
  int (*H5Pget_layout)(Id);
  int (*H5Pget_chunk)(Id, int, Size*);
  int (*H5Pget_external_count)(Id);
  int (*H5Pget_nfilters)(Id);
  int (*H5Pget_filter2)(Id, unsigned, unsigned*, std::size_t*, unsigned*, std::size_t, char*, unsigned*);
  int (*H5Zfilter_avail)(int);
  // NOLINTEND(readability-identifier-naming)

 private:
  explicit Hdf5Library(const SharedLibrary& library);

  int (*get_printer_)(Id, void**, void**);
  int (*set_printer_)(Id, void*, void*);
  int (*walk_errors_)(Id, int, int (*)(unsigned, const void*, void*), void*);
  const Id *native_float_, *native_double_, *ieee_[2][2];
};

}  // namespace fairlead::data
