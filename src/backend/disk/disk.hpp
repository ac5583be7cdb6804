// The disk backend: the transfer engine of the link between the spill file and host memory.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "backend/disk/io_threads.hpp"
#include "backend/disk/slot_places.hpp"

namespace fairlead::backend {

/// Bytes transferred so far; any thread.
struct DiskTraffic {
  std::atomic<Bytes> read{0}, written{0};
};

class DiskTransferEngine final : public TransferEngine {
 public:
  struct File {
    int descriptor = -1;
    std::string place{};           ///< for messages
    std::exception_ptr missing{};  ///< why there is no file (descriptor -1); otherwise null
    SlotPlaces* places{};          ///< of its slots; null: each has one
  };
  /// `traffic` and `site` must outlive it.
  DiskTransferEngine(File file, const IoThreads::Settings& settings, DiskTraffic& traffic, BackendHost& site);

  void start(const Transfer& load) override;
  void stop() noexcept override {
    stopped_.store(true);
    threads_.stop();
  }
  void skip_throttling() noexcept override { threads_.lift_cap(); }
  std::size_t threads() const noexcept override { return threads_.threads(); }

 private:
  void done(const IoResult& result);
  TransferResult outcome_of(const Transfer& load, const IoResult& result) const;

  const File file_;
  std::atomic<bool> stopped_{false};
  DiskTraffic& traffic_;
  BackendHost& site_;
  IoThreads threads_;  // last: its threads use all other fields
};

/// "disk": always present. Its settings are disk-threads, disk-bandwidth and checksums.
class DiskBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "disk"; }
  std::unique_ptr<BackendInstance> make() const override;
};

}  // namespace fairlead::backend
