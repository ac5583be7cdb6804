// The directory of a checkpoint: the index, the file of data to which it refers, and the file of data of the running
// program, which becomes the other one with the next checkpoint. Another process cannot use it meanwhile.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/file_descriptor.hpp"
#include "front/checkpoint/checkpoint_index.hpp"

namespace fairlead::front {

class CheckpointDirectory {
 public:
  /// Makes the directory if it does not exist, reads its checkpoint if it has one, and removes what an interrupted run has
  /// left. Throws SystemError, InputError for a damaged index or another directory that is not empty, UsageError if another
  /// process uses it.
  explicit CheckpointDirectory(const std::filesystem::path& path);
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;
  /// Without a checkpoint, removes what this object has made.
  ~CheckpointDirectory();

  /// The index of the checkpoint in a directory, without using it; none if there is no checkpoint. Throws InputError if it is
  /// damaged.
  static std::optional<CheckpointIndex> peek(const std::filesystem::path& directory);

  std::string text() const { return path_.string(); }
  /// The checkpoint that was there; null: none, or it was discarded.
  const CheckpointIndex* found() const noexcept { return found_ ? &*found_ : nullptr; }
  /// Whether a run can be resumed: by the checkpoint that was there, or by one of this run.
  bool has_checkpoint() const noexcept { return has_index_; }
  /// The checkpoint that was there is not used.
  void discard_found();
  /// A new, empty file for the data of this run. Once.
  FileDescriptor make_data_file();
  /// Replaces the index, which names the file of data of this run, after its data have reached the disk. Throws SystemError;
  /// then the former index still counts.
  void replace_index(CheckpointIndex index);
  /// Reads a part of the datum from the checkpoint that was found; `to` has the size of the sum. Any thread. Throws
  /// InputError if it is damaged, SystemError if it cannot be read.
  void read(const SavedDatum& datum, const backend::Checksums::Sum& part, std::span<std::byte> to) const;
  /// The computation is complete: removes the checkpoint.
  void remove() noexcept;

 private:
  static std::optional<CheckpointIndex> read_index(const std::filesystem::path& path);
  std::filesystem::path index_path() const { return path_ / "index"; }
  std::filesystem::path lock_path() const { return path_ / "lock"; }
  void lock();
  void open_found();
  void free_unused_space() const;
  void remove_leftovers() const;

  std::filesystem::path path_;
  bool made_ = false;  // the directory, by this object
  FileDescriptor lock_;
  std::optional<CheckpointIndex> found_;
  FileDescriptor found_data_;
  std::string data_name_;  // of this run
  bool has_index_ = false;
};

}  // namespace fairlead::front
