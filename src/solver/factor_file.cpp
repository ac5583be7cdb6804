// See factor_file.hpp.
#include "solver/factor_file.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "base/crc32c.hpp"
#include "base/file_descriptor.hpp"

namespace fairlead::solver {

namespace {

std::uint64_t count_of(const FactorShape& shape) { return FactorLayout::count(shape); }

/// Checks the sizes before anything is allocated for them.
DecodedFactorHeader checked_header(const data::RegularFile& file) {
  DecodedFactorHeader decoded = decode_factor_header(file.name(), file.read_some(0, FactorHeader::bytes));
  const std::uint64_t data = count_of(decoded.header.shape);
  if (decoded.data != data || decoded.file_bytes / FactorHeader::bytes_of_entry < data)
    throw InputError(
        fmt::format("{}: is damaged: its header states {} data, and a factorization of that shape has {}",
                    file.name(), decoded.data, data));
  if (file.bytes() < decoded.file_bytes)
    throw InputError(fmt::format("{}: is truncated: it has {} bytes, and its header states {}", file.name(),
                                 file.bytes(), decoded.file_bytes));
  if (file.bytes() > decoded.file_bytes)
    throw InputError(fmt::format("{}: is damaged: it has {} bytes, {} more than its header states",
                                 file.name(), file.bytes(), file.bytes() - decoded.file_bytes));
  return decoded;
}

std::span<std::byte> bytes_of_table(std::vector<FactorEntry>& table) {
  return std::as_writable_bytes(std::span(table));
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

FactorFile::FactorFile(const std::filesystem::path& path)
    : file_(path),
      decoded_(checked_header(file_)),
      layout_(decoded_.header.shape, FactorHeader::first_offset(decoded_.data)),
      table_(layout_.size()) {
  if (layout_.file_bytes() != decoded_.file_bytes)
    throw InputError(fmt::format("{}: is damaged: its header states {} bytes, and its data need {}", name(),
                                 decoded_.file_bytes, layout_.file_bytes()));
  read_table();
}

void FactorFile::read_table() {
  const Bytes end = FactorHeader::first_offset(decoded_.data);
  const std::string bytes = file_.read_some(FactorHeader::bytes, end - FactorHeader::bytes);
  const std::span<std::byte> table = bytes_of_table(table_);
  const auto damaged = [&](const std::string& what) {
    throw InputError(fmt::format("{}: is damaged: its table (bytes {} to {}) {}", name(), FactorHeader::bytes,
                                 end - 1, what));
  };
  if (bytes.size() < end - FactorHeader::bytes) damaged("is truncated");
  std::memcpy(table.data(), bytes.data(), table.size());
  if (crc32c(table) != decoded_.checksum_of_table ||
      !all_zero(std::as_bytes(std::span(bytes)).subspan(table.size())))
    damaged("does not match its checksum");
  for (std::size_t i = 0; i < table_.size(); ++i)
    if (table_[i].offset != layout_.offset(i) || table_[i].bytes != layout_[i].bytes() ||
        table_[i].part != static_cast<std::uint32_t>(layout_[i].part))
      damaged(fmt::format("has another place for {}", layout_[i].text()));
}

/// `content`: memory for all of the datum.
void FactorFile::read_checked(std::size_t index, std::span<std::byte> content) const {
  // The zeros behind the datum are checked as well, so that no damage of the file remains undetected. They are read
  // first, since the larger read drops the page that both share from the cache.
  std::array<std::byte, FactorLayout::alignment> padding;
  const Bytes offset = layout_.offset(index);
  const std::span<std::byte> behind = std::span(padding).first(layout_.padded_bytes(index) - content.size());
  if (!behind.empty()) file_.read(offset + content.size(), behind);
  file_.read(offset, content);
  if (crc32c(content) == table_[index].checksum && all_zero(behind)) return;
  throw InputError(
      fmt::format("{}: is damaged: {} (bytes {} to {}) does not match its checksum. Factor the matrix "
                  "again, or copy the file again",
                  name(), layout_[index].text(), offset, offset + layout_.padded_bytes(index) - 1));
}

void FactorFile::read(std::size_t index, Bytes first, std::span<std::byte> to) const {
  const FactorDatum& datum = layout_[index];
  if (first == 0 && to.size() == datum.bytes()) return read_checked(index, to);
  std::vector<std::byte> all(datum.bytes());
  read_checked(index, all);
  std::memcpy(to.data(), all.data() + first, to.size());
}

bool is_factor_file(const std::filesystem::path& path) {
  constexpr std::size_t enough = 16;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false;  // opening a pipe would wait for its writer
  const auto start = read_file(path, enough);
  return start && has_magic_of_factors(*start);
}

FactorFileWriter::FactorFileWriter(const std::filesystem::path& path, const FactorHeader& header)
    : header_(header),
      layout_(header.shape, FactorHeader::first_offset(count_of(header.shape))),
      table_(layout_.size()),
      file_(path, layout_.file_bytes()) {}

void FactorFileWriter::write(std::size_t index, std::span<const std::byte> content) {
  const FactorDatum& datum = layout_[index];
  if (content.size() != datum.bytes())
    throw UsageError(
        fmt::format("{} has {} bytes, and {} were to be saved", datum.text(), datum.bytes(), content.size()));
  file_.write(layout_.offset(index), content);
  // The space may have had any content before: the zeros are checked.
  constexpr std::array<std::byte, FactorLayout::alignment> zeros{};
  const Bytes behind = layout_.padded_bytes(index) - content.size();
  if (behind != 0) file_.write(layout_.offset(index) + content.size(), std::span(zeros).first(behind));
  table_[index] = {layout_.offset(index), content.size(), crc32c(content),
                   static_cast<std::uint32_t>(datum.part)};
  written_.fetch_add(1);
}

void FactorFileWriter::commit() {
  if (written_.load() != table_.size())
    throw UsageError(fmt::format("{} of {} data of the factors were saved", written_.load(), table_.size()));
  const std::span<std::byte> table = bytes_of_table(table_);
  const Bytes end = FactorHeader::first_offset(table_.size());
  std::vector<std::byte> padded(end - FactorHeader::bytes);
  std::memcpy(padded.data(), table.data(), table.size());
  file_.write(FactorHeader::bytes, padded);
  file_.write(0, header_.encoded(table_.size(), layout_.file_bytes(), crc32c(table)));
  file_.commit();
}

}  // namespace fairlead::solver
