// Ranks that are processes, by MPI. Nothing here has a thread: whoever drives it asks MPI what has come. Payloads go
// straight between where they are and where they are wanted: a receive is there before the message that asks for them. Where MPI
// lets one thread alone call it, others leave what they want to that one.
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

#include "net/hearing.hpp"
#include "net/mpi/payloads.hpp"
#include "net/mpi/receives.hpp"
#include "net/mpi/requests.hpp"
#include "net/mpi/tally.hpp"
#include "net/network.hpp"

namespace fairlead::net {

/// Communicators of our own, so that nothing that the program sends is taken for ours.
struct MpiGroups {
  MPI_Comm messages = MPI_COMM_NULL, long_messages = MPI_COMM_NULL, payloads = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  int largest_tag = 32767;
  Network::Sharing sharing{};
  bool by_one_thread = false;          ///< MPI may be called by the one that has begun it alone
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
  bool has_to_be_driven() const noexcept override { return true; }
  bool driven_by_one_thread() const noexcept override { return groups_.by_one_thread; }
  bool drive() override;
  bool has_to_say() const noexcept override {
    return poked_.load(std::memory_order_relaxed) && !is_other_thread();
  }
  bool say() override;
  /// Collective: afterwards no rank writes where another has been.
  void end() override;
  void lose(const std::string& why) override;
  void break_off() noexcept override;
  bool is_open() const noexcept override { return hearing_.is_open(); }

  void expect(const Commands::Expected& expected) override;
  void send(Commands::Message message) override;
  void send(const Commands::Payload& payload) override;
  void drop(PayloadId payload) override;

 private:
  using Kind = MpiRequests::Kind;
  /// Of a rank; of this one, if MPI fails. Nothing is asked of MPI any more then: it might wait for that one.
  enum class Loss : std::uint8_t {
    none,
    untold,  // whoever drives next tells the listener
    told,
  };
  enum class End : std::uint8_t {
    none,
    begun,  // nothing is sent any more
    over,
  };
  struct Happened {
    Kind kind{};
    RankId from = no_rank;
    PayloadId payload{};
    std::vector<std::byte> message{};  ///< that it hears
  };
  /// A long message that a short one has announced.
  struct Announced {
    RankId from = no_rank;
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
  };
  /// Who is not the one thread leaves what he wants to it.
  struct Drop {
    PayloadId payload{};
    std::shared_ptr<std::atomic<bool>> done;  // who has left it may not wait any more
  };
  using Wanted = std::variant<Commands::Expected, Commands::Message, Commands::Payload, Drop>;
  bool leaves_it(Wanted wanted);
  void do_what_was_left();
  template <class It>
  void carry_out(It& it);
  void ask_for(Commands::Message& message);
  void ask_for(const Commands::Expected& expected);
  void ask_for(const Commands::Payload& payload);
  void ask_for(const Drop& drop);
  template <class Ask>
  void or_broken(const Ask& ask);
  bool is_other_thread() const noexcept {
    return groups_.by_one_thread && std::this_thread::get_id() != own_thread_;
  }
  bool is_lost() const noexcept { return loss_.load() != Loss::none; }
  bool tell_lost();
  void look();
  void receive_unwanted();
  void receive_the_rest();
  void end_with_others();
  void hear(std::span<const std::byte> short_message, RankId from);
  void has_heard(RankId from, std::span<const std::byte> message);
  void say(RankId to, MPI_Comm by, int tag, std::vector<std::byte> bytes);

  MpiGroups groups_;                                               // fixed until end()
  const std::thread::id own_thread_ = std::this_thread::get_id();  // that has begun with MPI
  const std::string description_;
  Hearing<Listener> hearing_;
  std::atomic<bool> poked_{false};
  std::mutex lost_mutex_;  // guards why_lost_, until it is lost
  std::atomic<Loss> loss_{Loss::none};
  std::string why_lost_ = "there is no memory to go on";  // unless something else is said
  std::mutex left_mutex_;                                 // guards left_
  std::deque<Wanted> left_;
  std::mutex mutex_;  // guards what follows, and is held in every call of MPI
  MpiReceives receives_;
  MpiRequests requests_;
  std::vector<Happened> happened_;
  unsigned looks_in_vain_ = 0;
  std::vector<Announced> announced_;
  MpiPayloads payloads_;
  MpiTally tally_;
  std::uint64_t long_messages_ = 0;  // sent so far
  std::atomic<End> end_{End::none};  // written under the mutex
};

}  // namespace fairlead::net
