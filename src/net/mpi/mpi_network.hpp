// Ranks as processes, connected by MPI. The class has no thread: the threads that drive it poll MPI. Payloads go
// directly between their source and their destination: each receive is posted before the message that requests it. If
// MPI allows calls from one thread only, other threads queue their operations for it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "net/listener_guard.hpp"
#include "net/mpi/payloads.hpp"
#include "net/mpi/receives.hpp"
#include "net/mpi/requests.hpp"
#include "net/mpi/tally.hpp"
#include "net/network.hpp"

namespace fairlead::net {

/// Private communicators, so that messages of the program cannot be confused with these.
struct MpiGroups {
  MPI_Comm messages = MPI_COMM_NULL, long_messages = MPI_COMM_NULL, payloads = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  int largest_tag = 32767;
  Network::Sharing sharing{};
  bool by_one_thread = false;          ///< only the thread that initialized MPI may call it
  std::string why_not_into_devices{};  ///< see Network
};

class MpiNetwork final : public Network {
 public:
  MpiNetwork(const MpiGroups& groups, std::string description);
  ~MpiNetwork() override;

  RankId own() const noexcept override { return RankId{static_cast<std::uint32_t>(groups_.rank)}; }
  std::uint32_t ranks() const noexcept override { return static_cast<std::uint32_t>(groups_.ranks); }
  Sharing sharing() const noexcept override { return groups_.sharing; }
  std::string description() const override { return description_; }
  std::string why_not_into_devices() const override { return groups_.why_not_into_devices; }
  void begin(Listener& listener) override;
  void poke() override { poked_.store(true); }
  bool needs_polling() const noexcept override { return true; }
  bool driven_by_one_thread() const noexcept override { return groups_.by_one_thread; }
  bool poll() override;
  bool has_poke() const noexcept override {
    return poked_.load(std::memory_order_relaxed) && !is_other_thread();
  }
  bool deliver_poke() override;
  /// Collective: afterwards no rank writes into the memory of another.
  void end() override;
  void lose(const std::string& why) override;
  void abort_out_of_memory() noexcept override;
  bool is_open() const noexcept override { return hearing_.is_open(); }

  void expect(const EndpointCommands::PostedReceive& expected) override;
  void send(EndpointCommands::Message message) override;
  void send(const EndpointCommands::Payload& payload) override;
  void drop(PayloadId payload) override;

 private:
  using Kind = MpiRequests::Kind;
  /// Loss of a rank, or of this one if MPI fails. No call of MPI follows, since it could wait for the lost rank.
  enum class Loss : std::uint8_t {
    none,
    unreported,  // the next poll() notifies the listener
    reported,
  };
  enum class End : std::uint8_t {
    none,
    begun,  // no more sends
    over,
  };
  struct MpiEvent {
    Kind kind{};
    RankId from = no_rank;
    PayloadId payload{};
    std::vector<std::byte> message{};  ///< a received message
  };
  /// A long message that a short one has announced.
  struct Announced {
    RankId from = no_rank;
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
  };
  /// An operation queued for the one thread that may call MPI.
  struct Drop {
    PayloadId payload{};
    // shared, since the requester may have stopped waiting
    std::shared_ptr<std::atomic<bool>> done;
  };
  using PendingOperation = std::variant<EndpointCommands::PostedReceive, EndpointCommands::Message,
                                        EndpointCommands::Payload, Drop>;
  bool queue_for_mpi_thread(PendingOperation wanted);
  void run_queued();
  template <class It>
  void carry_out(It& it);
  void ask_for(EndpointCommands::Message& message);
  void ask_for(const EndpointCommands::PostedReceive& expected);
  void ask_for(const EndpointCommands::Payload& payload);
  void ask_for(const Drop& drop);
  template <class Ask>
  void or_broken(const Ask& ask);
  bool is_other_thread() const noexcept {
    return groups_.by_one_thread && std::this_thread::get_id() != own_thread_;
  }
  bool is_lost() const noexcept { return loss_.load() != Loss::none; }
  bool report_loss();
  void look();
  void receive_unwanted();
  void receive_the_rest();
  void end_with_others();
  void hear(std::span<const std::byte> short_message, RankId from);
  void has_heard(RankId from, std::span<const std::byte> message);
  void say(RankId to, MPI_Comm by, int tag, std::vector<std::byte> bytes);

  MpiGroups groups_;                                               // constant until end()
  const std::thread::id own_thread_ = std::this_thread::get_id();  // the thread that initialized MPI
  const std::string description_;
  ListenerGuard<Listener> hearing_;
  std::atomic<bool> poked_{false};
  std::mutex lost_mutex_;  // guards why_lost_ until loss_ is set
  std::atomic<Loss> loss_{Loss::none};
  std::string why_lost_ = "there is no memory to go on";  // the default text
  std::mutex left_mutex_;                                 // guards left_
  std::deque<PendingOperation> left_;
  std::mutex mutex_;  // guards the fields below, and each call of MPI
  MpiReceives receives_;
  MpiRequests requests_;
  std::vector<MpiEvent> happened_;
  unsigned empty_polls_ = 0;
  std::vector<Announced> announced_;
  MpiPayloads payloads_;
  MpiTally tally_;
  std::uint64_t long_messages_ = 0;  // sent so far
  std::atomic<End> end_{End::none};  // written under the mutex
};

}  // namespace fairlead::net
