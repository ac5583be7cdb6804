// Finds the functions of HDF5's library.
#include "data/hdf5/hdf5_library.hpp"

#include <fmt/format.h>

#include <fairlead/error.hpp>

namespace fairlead::data {
namespace {

constexpr Hdf5Library::Id default_stack = 0;  // H5E_DEFAULT

/// HDF5 has one state per process, and builds without locks of their own exist: one thread at a time may call it, for
/// whichever file.
std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// H5E_error2_t.
struct Hdf5Error {
  Hdf5Library::Id error_class, major_number, minor_number;
  unsigned line;
  const char *function, *file, *description;
};

constexpr const char* library_names[] = {"libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5.so.103",
                                         "libhdf5.so.200",        "libhdf5.so.310",        "libhdf5.so"};

}  // namespace

std::shared_ptr<const Hdf5Library> Hdf5Library::load(const std::string& name) {
  std::string reason;
  for (const char* const library : library_names) try {
      return std::shared_ptr<const Hdf5Library>(new Hdf5Library(SharedLibrary::open(library)));
    } catch (const SystemError& error) {
      if (reason.empty()) reason = error.what();
    }
  throw InputError(
      fmt::format("{}: is an HDF5 file, which needs HDF5's library (Debian: apt install libhdf5-103-1): {}",
                  name, reason));
}

Hdf5Library::Hdf5Library(const SharedLibrary& library) {
  const auto take = [&]<class Function>(Function*& function, const char* symbol) {
    function = library.require<Function>(symbol);
  };
  int (*initialize)() = nullptr;
  take(initialize, "H5open");
  take(H5Fopen, "H5Fopen");
  take(H5Fclose, "H5Fclose");
  take(H5Gopen2, "H5Gopen2");
  take(H5Gclose, "H5Gclose");
  take(H5Gget_num_objs, "H5Gget_num_objs");
  take(H5Gget_objname_by_idx, "H5Gget_objname_by_idx");
  take(H5Gget_objtype_by_idx, "H5Gget_objtype_by_idx");
  take(H5Dopen2, "H5Dopen2");
  take(H5Dclose, "H5Dclose");
  take(H5Dget_space, "H5Dget_space");
  take(H5Dget_type, "H5Dget_type");
  take(H5Dget_create_plist, "H5Dget_create_plist");
  take(H5Dget_offset, "H5Dget_offset");
  take(H5Dread, "H5Dread");
  take(H5Screate_simple, "H5Screate_simple");
  take(H5Sclose, "H5Sclose");
  take(H5Sget_simple_extent_ndims, "H5Sget_simple_extent_ndims");
  take(H5Sget_simple_extent_dims, "H5Sget_simple_extent_dims");
  take(H5Sselect_hyperslab, "H5Sselect_hyperslab");
  take(H5Tclose, "H5Tclose");
  take(H5Tget_class, "H5Tget_class");
  take(H5Tget_size, "H5Tget_size");
  take(H5Tequal, "H5Tequal");
  take(H5Tget_nmembers, "H5Tget_nmembers");
  take(H5Tget_member_name, "H5Tget_member_name");
  take(H5Tget_member_type, "H5Tget_member_type");
  take(H5Tget_member_offset, "H5Tget_member_offset");
  take(H5Tcreate, "H5Tcreate");
  take(H5Tinsert, "H5Tinsert");
  take(H5free_memory, "H5free_memory");
  take(H5Pclose, "H5Pclose");
  take(H5Pget_layout, "H5Pget_layout");
  take(H5Pget_chunk, "H5Pget_chunk");
  take(H5Pget_external_count, "H5Pget_external_count");
  take(H5Pget_nfilters, "H5Pget_nfilters");
  take(H5Pget_filter2, "H5Pget_filter2");
  take(H5Zfilter_avail, "H5Zfilter_avail");
  take(get_printer_, "H5Eget_auto2");
  take(set_printer_, "H5Eset_auto2");
  take(walk_errors_, "H5Ewalk2");
  take(native_float_, "H5T_NATIVE_FLOAT_g");
  take(native_double_, "H5T_NATIVE_DOUBLE_g");
  take(ieee_[0][0], "H5T_IEEE_F64LE_g");
  take(ieee_[0][1], "H5T_IEEE_F64BE_g");
  take(ieee_[1][0], "H5T_IEEE_F32LE_g");
  take(ieee_[1][1], "H5T_IEEE_F32BE_g");
  const std::lock_guard guard(hdf5_mutex());
  if (initialize() < 0) throw SystemError(fmt::format("{} cannot be initialized", library.name()));
}

Hdf5Library::Access::Access(const Hdf5Library& library) : library_(library), lock_(hdf5_mutex()) {
  library_.get_printer_(default_stack, &printer_, &printer_data_);
  library_.set_printer_(default_stack, nullptr, nullptr);
}

Hdf5Library::Access::~Access() { library_.set_printer_(default_stack, printer_, printer_data_); }

std::string Hdf5Library::last_error() const {
  std::string description;
  constexpr int innermost_first = 0;
  walk_errors_(
      default_stack, innermost_first,
      [](unsigned, const void* error, void* into) {
        auto& text = *static_cast<std::string*>(into);
        const char* const one = static_cast<const Hdf5Error*>(error)->description;
        if (text.empty() && one != nullptr) text = one;
        return 0;
      },
      &description);
  return description.empty() ? "HDF5 states no reason" : description;
}

bool Hdf5Library::is_ieee(Id type, bool in_single, bool big_endian) const noexcept {
  return H5Tequal(type, *ieee_[in_single ? 1 : 0][big_endian ? 1 : 0]) > 0;
}

}  // namespace fairlead::data
