// See files_of_all.hpp.
#include "fairlead/ranks/files_of_all.hpp"

#include <fairlead/error.hpp>

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <exception>

namespace fairlead::app {

namespace {

using data::NpyFile;
using data::NpyHeader;

/// What a process reads about a file, as numbers for other processes. The fields from `element` on are its
/// header.
struct Look {
  enum : std::size_t {
    opened,
    bytes,
    changed_s,
    changed_ns,
    element,
    swapped,
    order,
    offset,
    dimensions,
    rows,
    columns,
    count
  };
};
using Looks = std::array<double, Look::count>;

class SeenFile {
 public:
  explicit SeenFile(const std::string& path) : path_(path) {
    try {
      file_ = std::make_shared<const NpyFile>(path);
    } catch (const Error&) {
      why_ = std::current_exception();
      return;
    }
    struct stat state {};
    if (::stat(path.c_str(), &state) != 0) return;
    const NpyHeader& header = file_->header();
    look_[Look::opened] = 1;
    look_[Look::bytes] = static_cast<double>(state.st_size);
    look_[Look::changed_s] = static_cast<double>(state.st_mtim.tv_sec);
    look_[Look::changed_ns] = static_cast<double>(state.st_mtim.tv_nsec);
    look_[Look::element] = static_cast<double>(header.element);
    look_[Look::swapped] = header.byte_swapped ? 1 : 0;
    look_[Look::order] = static_cast<double>(header.order);
    look_[Look::offset] = static_cast<double>(header.data_offset);
    look_[Look::dimensions] = static_cast<double>(header.shape.size());
    look_[Look::rows] = static_cast<double>(file_->rows());
    look_[Look::columns] = static_cast<double>(file_->columns());
  }

  const Looks& look() const noexcept { return look_; }
  /// Throws if it could not be opened.
  std::shared_ptr<const NpyFile> file() const {
    if (why_ != nullptr) std::rethrow_exception(why_);
    return file_;
  }
  /// The file with the header that the first process read.
  std::shared_ptr<const NpyFile> from_header(const double* look) const {
    NpyHeader header{.element = static_cast<data::ElementType>(static_cast<int>(look[Look::element])),
                     .byte_swapped = look[Look::swapped] != 0,
                     .order = static_cast<data::StorageOrder>(static_cast<int>(look[Look::order])),
                     .shape = {static_cast<std::uint64_t>(look[Look::rows])},
                     .data_offset = static_cast<Bytes>(look[Look::offset])};
    if (look[Look::dimensions] > 1) header.shape.push_back(static_cast<std::uint64_t>(look[Look::columns]));
    return std::make_shared<const NpyFile>(path_, std::move(header));
  }

 private:
  std::string path_;
  std::shared_ptr<const NpyFile> file_;
  std::exception_ptr why_;
  Looks look_{};
};

}  // namespace

FilesOfAll files_of_all(CommandRanks& ranks, const Config& config, const std::vector<std::string>& paths) {
  const std::vector<SeenFile> seen(paths.begin(), paths.end());
  std::vector<double> own;
  for (const SeenFile& it : seen) own.insert(own.end(), it.look().begin(), it.look().end());
  FilesOfAll all;
  const std::vector<double> looks = own.empty() ? own : ranks.gather_from_processes(config, own);
  for (std::size_t i = 0; i < looks.size(); ++i) all.same = all.same && looks[i] == looks[i % own.size()];
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double* const first = looks.data() + i * Look::count;
    if (!ranks.first() && first[Look::opened] == 0) throw RankError("rank 0 cannot read the files");
    all.files.push_back(ranks.first() || all.same ? seen[i].file() : seen[i].from_header(first));
  }
  return all;
}

}  // namespace fairlead::app
