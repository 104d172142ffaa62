//===- work_line.h - progress of long work ----------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_WORK_LINE_H
#define TOOLS_ZERO_RUN_WORK_LINE_H

#include <chrono>
#include <cstdint>
#include <string>

namespace zero::run {

/// What takes long outside of steps: bytes done of bytes, rate, and how long it goes on. On a
/// terminal in a line that changes, else a line every few seconds; once it is done the whole, if
/// it took long. Nothing when quiet.
class WorkLine {
public:
  /// Work of less than `least` seconds gets no line, others one every `pause` seconds.
  explicit WorkLine(bool quiet, double least = 2, double pause = 5);
  ~WorkLine();
  WorkLine(const WorkLine &) = delete;

  /// A progress callback of the runtime: `line` is a WorkLine.
  static void report(void *line, const char *what, uint64_t done, uint64_t total) {
    static_cast<WorkLine *>(line)->show(what, done, total);
  }

private:
  using Clock = std::chrono::steady_clock;
  void show(const char *what, uint64_t done, uint64_t total);
  void print(const std::string &text, bool stays);

  const bool quiet, terminal;
  const double least, pause;
  std::string what; ///< is going on; empty: nothing
  Clock::time_point begin, last;
  bool isOpen = false;    ///< the terminal's cursor stands behind a line that changes
  bool isPrinted = false; ///< of what is going on something was
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_WORK_LINE_H
