// A lifeline's sockets, and the thread that looks after them: it does nothing else, so that a rank whose workers are busy for
// long does not look as if it hung. Another one waits to cut off what does not end, since that may wait itself.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "net/last_resort.hpp"
#include "net/lifeline.hpp"
#include "net/lifeline_door.hpp"
#include "net/lifeline_link.hpp"
#include "net/whereabouts.hpp"

namespace fairlead::net {

class LifelineSockets {
 public:
  struct Options {
    Lifeline::Pace pace{};
    std::uint32_t fan_out = 8;
    Duration to_greet = std::chrono::seconds(5);  ///< whoever has connected has so long to say who he is
    Duration grace = std::chrono::seconds(3);     ///< from `end` to `cut`
    bool by_network = false;                      ///< also on one machine
    bool own_descriptors = true;                  ///< see own_descriptors.hpp
  };
  /// What is done about a loss. `tell` and `end` do not wait, and have no descriptors but the standard error stream's.
  struct Actions {
    std::function<void(const Loss&)> tell;  ///< to people
    std::function<void(const Loss&)> end;   ///< everything that needs the rank ends with an error
    std::function<void()> cut;              ///< the process is still there after the grace
  };

  LifelineSockets(RankId own, const Options& options, Actions actions);
  /// Lines break without a word, as if the process had been killed.
  ~LifelineSockets();

  /// This process's, with sockets: a local one, and where others are on other machines, one for these. Throw SystemError if the
  /// system does not give what is needed.
  const Whereabouts& open_locally();
  const Whereabouts& open_to_network();
  /// Of all ranks, whose parents all listen by now; nothing of one that has none. A token is rank 0's. Throws std::system_error if
  /// there is no thread: then no line comes about.
  void begin(std::vector<std::optional<Whereabouts>> all);
  /// Whether there is a line to the parent; waits so long for it.
  bool linked_within(Duration time);
  /// Ranks of which it is not so have no line to their parents: there neither watches the other.
  void only_with(const std::function<bool(RankId)>& has_line);
  void set_patience(Duration patience);
  /// The others hear after that time that this rank is lost in that way, if it is not gone by then. It does not wait.
  void give_up(Loss::How how, Duration after);
  /// This rank has come to its end; `needed` by others. Afterwards nothing is done any more.
  void leave(bool needed);

  const Whereabouts& of(RankId rank) const { return *all_[index(rank)]; }
  bool is_near(RankId rank) const;

 private:
  enum class Stay : std::uint8_t { stays, leaves, leaves_needed, vanishes };
  void run();
  void run_failed() noexcept;
  /// False: it is over.
  bool go_round();
  std::vector<pollfd> wanted(int& milliseconds);
  /// What poll has found, with the lock.
  void turn(const std::vector<pollfd>& polled);
  void let_in(const FileDescriptor& listening, bool local);
  void go_on(const std::vector<pollfd>& polled, Lifeline::Orders& out);
  /// One of ours has said who he is. False: there is a line to him already.
  bool welcome(LifelineLink& link, Lifeline::Orders& out);
  void carry_out(Lifeline::Orders& orders);
  LifelineLink* link_to(RankId rank);
  void reach(RankId rank, Lifeline::Orders& out);
  void broken(RankId rank, Lifeline::Orders& out);
  void end(Stay how);
  void wake();

  const RankId own_;
  const Options options_;
  const Actions actions_;
  LifelineDoor door_;
  FileDescriptor woken_;
  std::vector<std::optional<Whereabouts>> all_;
  Token token_{};
  std::mutex mutex_;  // guards what follows
  std::condition_variable linked_, begun_;
  std::optional<Lifeline> lifeline_;
  std::list<LifelineLink> links_;
  struct Due {
    bool tell = false, end = false;
  };
  Due due_;
  struct GivesUp {
    Loss::How how{};
    Time at{};
  };
  std::optional<GivesUp> gives_up_;
  std::optional<Time> cut_at_;
  std::optional<bool> own_table_;        // of descriptors; said when the thread has begun
  std::optional<bool> has_parent_line_;  // false: nor will it
  Stay stay_ = Stay::stays;
  std::optional<LastResort> cutter_;
  std::thread thread_;
};

}  // namespace fairlead::net
