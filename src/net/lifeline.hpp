// Which rank is lost. Ranks are a tree, and each says to its parent and its children that it is there; a neighbour whose
// line breaks is gone, and one that says nothing for long hangs. Whoever finds a loss tells the others along the tree.
// What the lost rank has cut off is led back by its heirs: its parent, then its children. Who finds it gone asks the heirs
// before him to say so to people, so that one does. This is passive, as an endpoint is: it is told what happened and when,
// and answers with what is to be done.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "net/names.hpp"

namespace fairlead::net {

/// A rank that others cannot go on without.
struct Loss {
  enum class How : std::uint8_t {
    gone,    // its process is over, or no longer ours
    silent,  // it is there, and does not answer
    left,    // it has ended while others needed it, and says so itself
    failed,  // it cannot speak to others but by its lifeline, and says so itself
  };
  RankId rank = no_rank;
  How how = How::gone;
  friend constexpr bool operator==(const Loss&, const Loss&) = default;
};

/// What neighbours say to each other.
struct Word {
  enum class Kind : std::uint8_t {
    beat,  // I am there
    end,   // I am done, and need nobody any more
    lost,  // that rank is lost; it is seen to that people hear of it
    heir,  // that rank is lost, and you are to see to that
  };
  Kind kind = Kind::beat;
  Loss loss{};
  friend constexpr bool operator==(const Word&, const Word&) = default;
};

class Lifeline {
 public:
  struct Place {
    RankId own{};
    std::uint32_t ranks = 1, fan_out = 8;
  };
  struct Pace {
    Duration beat = std::chrono::seconds(1);
    Duration patience = std::chrono::seconds(10);  ///< with a neighbour that says nothing; 0: for ever
    Duration for_heirs = std::chrono::seconds(1);  ///< with each heir
  };
  struct Orders {
    struct Said {
      RankId to = no_rank;
      Word word{};
    };
    std::vector<Said> words{};
    RankId reach = no_rank;  ///< a line to that rank is wanted: heard() or broken() is the answer
    bool tell = false;       ///< people are to hear of the loss from here
    bool end = false;        ///< everybody who can know of the loss does: this process is to end
  };

  Lifeline(const Place& place, const Pace& pace, Time now);

  std::optional<RankId> parent() const;
  std::vector<RankId> children() const;
  /// Instead of the pace's.
  void set_patience(Duration patience, Time now);

  // ---- what happens. A neighbour is heard from when there is a line to it

  void heard(RankId from, const Word& word, Time now, Orders& out);
  /// Nothing more comes from there, or nothing can be had.
  void broken(RankId from, Time now, Orders& out);
  /// It is a neighbour to whom there has been no line yet.
  bool never_linked(RankId rank) const;
  /// There is no way to that neighbour, and both know: nobody watches there.
  void without(RankId neighbour);
  /// To be called at next_look() at the latest, after what has come was told.
  void look(Time now, Orders& out);
  Time next_look() const noexcept { return looked_ + pace_.beat; }
  /// This rank is done; or, while others need it, ends.
  void leave(bool needed, Orders& out);
  /// The others are not to wait for this rank, which is lost in that way.
  void give_up(Loss::How how, Orders& out);

  const std::optional<Loss>& loss() const noexcept { return loss_; }

 private:
  struct Neighbour {
    RankId rank{};
    Time heard{};
    bool linked = false;  // a line is there
  };
  RankId parent_of(RankId rank) const;
  std::vector<RankId> children_of(RankId rank) const;
  std::vector<RankId> heirs_before_own(RankId lost) const;
  Neighbour* find(RankId rank);
  /// All who are linked, but one.
  void tell_others(RankId but, Orders& out) const;
  void found(const Loss& loss, RankId by, Time now, Orders& out);
  void ask_next_heir(Time now, Orders& out);

  const Place place_;
  Pace pace_;
  std::vector<Neighbour> neighbours_;
  Time looked_{};
  std::optional<Loss> loss_;
  std::vector<RankId> heirs_;  // not asked yet, the last first
  RankId asked_ = no_rank;
  Time asked_at_{};
};

}  // namespace fairlead::net
