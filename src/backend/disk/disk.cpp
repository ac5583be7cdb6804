// Turns transfers into requests to the I/O threads; see disk.hpp.
#include "backend/disk/disk.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "backend/disk/spill_file.hpp"
#include "base/pages.hpp"

namespace fairlead::backend {

DiskTransferEngine::DiskTransferEngine(File file, const IoThreads::Settings& settings, DiskTraffic& traffic,
                                       BackendHost& site)
    : file_(std::move(file)),
      traffic_(traffic),
      site_(site),
      threads_(
          settings, [&site] { return site.now(); }, [this](const IoResult& result) { done(result); }) {}

void DiskTransferEngine::start(const Transfer& load) {
  if (stopped_.load()) return;
  const TransferEnd& on_disk = load.away_from_home ? load.from : load.to;
  const TransferEnd& in_memory = load.away_from_home ? load.to : load.from;
  if (in_memory.host == nullptr) throw Error("internal: a copy between the disk and memory other than RAM");
  auto pending = std::make_unique<Transfer>(load);
  Bytes offset = on_disk.offset;
  if (file_.places != nullptr) {
    const Bytes slot = offset - load.first;
    offset = load.first + (load.away_from_home ? file_.places->for_reading(slot, load.copy->bytes)
                                               : file_.places->for_writing(slot, load.copy->bytes));
  }
  // In whole pages, as direct I/O requires; replicas, staging buffers and the file have the space.
  threads_.submit(IoRequest{.descriptor = file_.descriptor,
                            .offset = offset,
                            .memory = in_memory.host,
                            .bytes = whole_pages_for(load.bytes),
                            .direction = load.away_from_home ? IoDirection::read : IoDirection::write,
                            .token = pending.get()});
  static_cast<void>(pending.release());  // owned by done(), which may have freed it already
}

void DiskTransferEngine::done(const IoResult& result) {
  const std::unique_ptr<const Transfer> load(static_cast<const Transfer*>(result.token));
  if (result.error_number == ECANCELED) return;  // stopped
  (result.direction == IoDirection::read ? traffic_.read : traffic_.written)
      .fetch_add(result.bytes, std::memory_order_relaxed);
  TransferResult outcome;
  try {
    outcome = outcome_of(*load, result);
  } catch (...) {  // no memory for the text: report that failure
    outcome.error_number = result.error_number;
    outcome.failure = std::current_exception();
  }
  load->receiver->completed(load->token, outcome);
}

TransferResult DiskTransferEngine::outcome_of(const Transfer& load, const IoResult& result) const {
  TransferResult outcome;
  outcome.error_number = result.error_number;
  if (result.error_number == 0) return outcome;
  if (file_.missing != nullptr) {
    outcome.failure = file_.missing;
  } else if (result.error_number == EBADMSG) {
    const Bytes begin = load.from.offset - load.first;  // file offset of the whole datum
    Bytes in_datum = result.wrong_at - begin;
    if (file_.places != nullptr) in_datum %= file_.places->place_bytes(load.copy->bytes);
    outcome.failure = std::make_exception_ptr(SystemError(fmt::format(
        "{} came back from the disk otherwise than it was written: its checksum is wrong at byte {} of the "
        "spill file in \"{}\" (byte {} of {}).\n"
        "  The run was stopped, since its results could be wrong. If that happens again, test this disk and "
        "the machine's memory, or name another disk by --disk-directory.",
        site_.name_of(load.copy->datum), result.wrong_at, file_.place, in_datum, load.copy->bytes)));
  }
  return outcome;
}

namespace {

class DiskPart final : public BackendInstance {
 public:
  void attach(BackendHost& site) override {
    const Topology& topology = site.topology();
    const BackendResources& around = site.surroundings();
    IoThreads::Settings settings;
    settings.checksums = around.checksums;
    settings.threads = static_cast<unsigned>(around.config->count("disk-threads"));
    if (around.config->has("disk-bandwidth"))
      settings.bytes_per_second = around.config->bandwidth_bytes_per_second("disk-bandwidth");
    SpillFile& file = *around.spill;
    transfer_engine_.emplace(
        DiskTransferEngine::File{file.descriptor(), file.directory(), file.missing(), file.places()},
        settings, *around.traffic, site);
    site.set_transfer_engine(topology.link_between(topology.store(), topology.host()), *transfer_engine_);
  }

 private:
  std::optional<DiskTransferEngine> transfer_engine_;
};

}  // namespace

std::unique_ptr<BackendInstance> DiskBackend::make() const { return std::make_unique<DiskPart>(); }

}  // namespace fairlead::backend
