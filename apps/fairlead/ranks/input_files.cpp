// See input_files.hpp.
#include "fairlead/ranks/input_files.hpp"

#include <fairlead/error.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "data/matrix/described_matrix.hpp"
#include "data/matrix/formats.hpp"

namespace fairlead::app {

namespace {

using data::StoredMatrix;

/// Indices of the facts about a file that the processes compare, as numbers. Those from `element` on are its
/// layout.
struct FileFact {
  enum : std::size_t {
    opened,
    bytes,
    changed_s,
    changed_ns,
    element,
    swapped,
    order,
    dimensions,
    rows,
    columns,
    count
  };
};
using FileFacts = std::array<double, FileFact::count>;

class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path) : path_(path) {
    try {
      file_ = data::open_matrix_file(path);
    } catch (const Error&) {
      why_ = std::current_exception();
      return;
    }
    const data::FileVersion version = file_->version();
    const auto modified_s = std::chrono::floor<std::chrono::seconds>(version.modified_at);
    const data::ArrayLayout& layout = file_->layout();
    facts_[FileFact::opened] = 1;
    facts_[FileFact::bytes] = static_cast<double>(version.bytes);
    facts_[FileFact::changed_s] = static_cast<double>(modified_s.count());
    facts_[FileFact::changed_ns] = static_cast<double>((version.modified_at - modified_s).count());
    facts_[FileFact::element] = static_cast<double>(layout.element);
    facts_[FileFact::swapped] = layout.byte_swapped ? 1 : 0;
    facts_[FileFact::order] = static_cast<double>(layout.order);
    facts_[FileFact::dimensions] = static_cast<double>(layout.shape.size());
    facts_[FileFact::rows] = static_cast<double>(file_->rows());
    facts_[FileFact::columns] = static_cast<double>(file_->columns());
  }

  const FileFacts& facts() const noexcept { return facts_; }
  /// Throws if it could not be opened.
  std::shared_ptr<const StoredMatrix> file() const {
    if (why_ != nullptr) std::rethrow_exception(why_);
    return file_;
  }
  /// The file as the first process has opened it.
  std::shared_ptr<const StoredMatrix> described(const double* facts) const {
    data::ArrayLayout layout{
        .element = static_cast<data::ElementType>(static_cast<int>(facts[FileFact::element])),
        .byte_swapped = facts[FileFact::swapped] != 0,
        .order = static_cast<data::StorageOrder>(static_cast<int>(facts[FileFact::order])),
        .shape = {static_cast<std::uint64_t>(facts[FileFact::rows])}};
    if (facts[FileFact::dimensions] > 1)
      layout.shape.push_back(static_cast<std::uint64_t>(facts[FileFact::columns]));
    return std::make_shared<const data::DescribedMatrix>(path_, std::move(layout));
  }

 private:
  std::string path_;
  std::shared_ptr<const StoredMatrix> file_;
  std::exception_ptr why_;
  FileFacts facts_{};
};

}  // namespace

InputFiles open_input_files(CommandRanks& ranks, const Config& config,
                            const std::vector<std::string>& paths) {
  const std::vector<OpenedFile> seen(paths.begin(), paths.end());
  std::vector<double> own;
  for (const OpenedFile& it : seen) own.insert(own.end(), it.facts().begin(), it.facts().end());
  InputFiles all;
  const std::vector<double> facts_of_all = own.empty() ? own : ranks.gather_from_processes(config, own);
  for (std::size_t i = 0; i < facts_of_all.size(); ++i)
    all.same = all.same && facts_of_all[i] == facts_of_all[i % own.size()];
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double* const first = facts_of_all.data() + i * FileFact::count;
    if (!ranks.first() && first[FileFact::opened] == 0) throw RankError("rank 0 cannot read the files");
    all.files.push_back(ranks.first() || all.same ? seen[i].file() : seen[i].described(first));
  }
  return all;
}

}  // namespace fairlead::app
