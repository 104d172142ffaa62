//===- admission.h - who may join the job -----------------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_ADMISSION_H
#define RUNTIME_PROCESSES_ADMISSION_H

#include "runtime/processes/hub_errors.h"

#include <optional>
#include <random>
#include <vector>

namespace zero::rt {

/// A process that has connected to process 0. Anything may connect: it is no process of the job
/// until it has proven that it knows the secret.
struct Stranger {
  std::unique_ptr<Connection> connection;
  Time end = Time::max(); ///< of patience
  std::optional<Hello> hello = std::nullopt;
  std::optional<Acquaintance> acquaintance = std::nullopt;
  bool isConfirmed = false, isRefused = false;
};

/// Accepts connections at process 0. Strangers cannot end the job or hold it up: each has one of a
/// fixed number of places for a few seconds, and a random one of those that have said nothing
/// leaves if all places are taken.
class Admission {
public:
  using Admit = std::function<void(const Hello &hello, std::unique_ptr<Connection> connection)>;

  Admission(Socket listener, const ControlOptions &options, const ProcessName &own, Admit admit)
      : listener(std::move(listener)), options(options), own(own), admit(std::move(admit)) {}

  void prepare(PollSet &polls);
  void serve(const PollSet &polls);
  /// Accepts no more.
  void close();
  /// How many have left without joining, and why the last one did; empty: none.
  std::string turnedAway() const;

private:
  void accept();
  void makePlace();
  bool take(Stranger &stranger, Message &&message);
  bool takeHello(Stranger &stranger, Message &&message);
  void refuse(Stranger &stranger, Refusal why, const Status &status);
  void turnAway(std::string why);

  Socket listener;
  const ControlOptions &options;
  ProcessName own;
  Admit admit;
  int slot = -1;
  Time pause = Time::min(); ///< until it accepts again, after an error
  std::vector<Stranger> strangers;
  std::minstd_rand random; ///< which stranger leaves
  uint64_t refused = 0;
  std::string lastReason;
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_ADMISSION_H
