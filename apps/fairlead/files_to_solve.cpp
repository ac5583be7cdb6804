// See files_to_solve.hpp.
#include "fairlead/files_to_solve.hpp"

#include <fairlead/error.hpp>

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <exception>
#include <span>

#include "algorithms/linalg/npy_source.hpp"
#include "algorithms/linalg/over_ranks.hpp"
#include "fairlead/read_vectors.hpp"

namespace fairlead::app {

namespace {

using data::NpyFile;
using data::NpyHeader;

/// What a process sees of a file, as numbers for others. Those from `element` on say all of its header.
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
  /// As the first process has it.
  std::shared_ptr<const NpyFile> told(const double* look) const {
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

constexpr std::int32_t points_at_once = 1024;

}  // namespace

FilesToSolve files_to_solve(CommandRanks& ranks, const Config& config, const std::string& a,
                            const std::string& b, bool of_points) {
  const SeenFile seen_a(a), seen_b(b);
  std::vector<double> own(seen_a.look().begin(), seen_a.look().end());
  own.insert(own.end(), seen_b.look().begin(), seen_b.look().end());
  FilesToSolve files;
  const auto read_points = [&] {
    std::vector<std::byte> staging(linalg::NpySource::staging_bytes);
    return read_vectors<double>(*files.a, staging);
  };
  std::vector<double>& points = files.points;
  std::exception_ptr wrong_points;
  const std::vector<double> all = ranks.told_by_processes(config, own);
  for (std::size_t i = 0; i < all.size(); ++i) files.same = files.same && all[i] == all[i % own.size()];
  if (!ranks.first() && (all[Look::opened] == 0 || all[Look::count + Look::opened] == 0))
    throw RankError("rank 0 cannot read the files");
  const bool told = !ranks.first() && !files.same;
  files.a = told ? seen_a.told(all.data()) : seen_a.file();
  files.b = told ? seen_b.told(all.data() + Look::count) : seen_b.file();
  if (!of_points) return files;
  if (!told) try {
      points = read_points();
    } catch (const Error&) {
      wrong_points = std::current_exception();
    }
  if (!files.same) {
    const double sound[] = {wrong_points == nullptr ? 1.0 : 0.0};
    points.resize(files.a->rows() * files.a->columns());
    const auto found = ranks.told_by_processes(config, sound, [&](Runtime& runtime) {
      linalg::share_bands(runtime, points.data(), static_cast<std::int64_t>(files.a->rows()),
                          static_cast<std::int64_t>(files.a->columns()), points_at_once, 1);
    });
    if (told && found.front() == 0) throw RankError("rank 0 cannot use the points");
  }
  if (wrong_points != nullptr) alike(ranks.first(), [&] { std::rethrow_exception(wrong_points); });
  return files;
}

}  // namespace fairlead::app
