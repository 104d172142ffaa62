//===- admission.h - who may join the job -----------------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_ADMISSION_H
#define RUNTIME_PROCESSES_ADMISSION_H

#include "runtime/processes/handshake.h"

#include <optional>
#include <vector>

namespace zero::rt {

/// A process that has connected to process 0. Anything may connect to a port: it is nobody until it
/// has said a Hello of this job.
struct Stranger {
  std::unique_ptr<Connection> connection;
  Time end = Time::max(); ///< of patience
  std::optional<Hello> hello = std::nullopt;
  bool isConfirmed = false, isRefused = false;
  std::vector<Message> early = {}; ///< what came together with the confirmation
};

/// Accepts connections at process 0. Strangers that say nothing, or something else, hold up nobody.
class Admission {
public:
  /// Decides about a Hello: nothing, or the answer that refuses it.
  using Check = std::function<std::optional<Message>(const Hello &hello)>;
  using Admit = std::function<void(Stranger &&stranger)>;

  Admission(Socket listener, const ProcessName &own, Check check, Admit admit)
      : listener(std::move(listener)), own(own), check(std::move(check)), admit(std::move(admit)) {}

  void prepare(PollSet &polls);
  void serve(const PollSet &polls);
  /// Accepts no more.
  void close();

private:
  void accept();
  bool take(Stranger &stranger, Message &&message) const;

  Socket listener;
  ProcessName own;
  Check check;
  Admit admit;
  int slot = -1;
  Time pause = Time::min(); ///< until it accepts again, after an error
  std::vector<Stranger> strangers;
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_ADMISSION_H
