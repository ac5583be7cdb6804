// The disk as a part of a machine: the carrier of the link between the spill file and the host's memory.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "backend/disk/io_threads.hpp"

namespace fairlead::backend {

/// Bytes that the disk has moved so far; any thread.
struct DiskTraffic {
  std::atomic<Bytes> read{0}, written{0};
};

class DiskCarrier final : public Carrier {
 public:
  struct File {
    int descriptor = -1;
    std::string place{};           ///< for messages
    std::exception_ptr missing{};  ///< why there is no file (descriptor -1); else null
  };
  /// `traffic` and `site` outlive it.
  DiskCarrier(File file, const IoThreads::Settings& settings, DiskTraffic& traffic, Site& site);

  void start(const Load& load) override;
  void stop() noexcept override {
    stopped_.store(true);
    threads_.stop();
  }
  void hurry() noexcept override { threads_.lift_cap(); }
  std::size_t threads() const noexcept override { return threads_.threads(); }

 private:
  void done(const IoResult& result);
  Outcome outcome_of(const Load& load, const IoResult& result) const;

  const File file_;
  std::atomic<bool> stopped_{false};
  DiskTraffic& traffic_;
  Site& site_;
  IoThreads threads_;  // last: they use all the rest
};

/// "disk": there always. Its settings are disk-threads, disk-bandwidth and checksums.
class DiskBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "disk"; }
  std::unique_ptr<Part> make() const override;
};

}  // namespace fairlead::backend
