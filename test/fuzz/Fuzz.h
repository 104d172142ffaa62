//===- Fuzz.h - mutates, runs, replays and minimises ------------*- C++ -*-===//
//
// Code that all fuzzers share. A fuzzer is a Target and a main function that passes it to
// runFuzzer; README.md explains how to use it.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include "Isolate.h"
#include "Random.h"

#include <functional>
#include <string>

namespace zero::fuzz {

/// One test input. Its file name is NAME.OPTIONS.EXTENSION.
struct Case {
  std::string bytes;
  std::string extension; ///< without the dot
  uint64_t options = 0;  ///< denotes the flags of the run
};

class Target {
public:
  virtual ~Target() = default;
  /// The description for --help.
  virtual const char *summary() const = 0;
  /// Adds `seed` to the pool from which mutants are made.
  virtual void addSeed(const Case &seed) = 0;
  /// Returns a mutant of the pool.
  virtual Case mutate(Random &random) = 0;
  /// Creates the files that cases refer to in the empty folder `scratch`.
  virtual void prepare(const std::string &scratch) {}
  /// Runs a case in `scratch`. Ends the process on a failure.
  virtual Verdict run(const Case &input, const std::string &scratch) = 0;
  /// Tries smaller cases. `keep` returns whether a case still fails in the same way; if so, it
  /// replaces `input`.
  virtual void reduce(Case &input, const std::function<bool(const Case &)> &keep);
};

/// The main function of a fuzzer.
int runFuzzer(Target &target, int argc, char **argv);

} // namespace zero::fuzz

#endif // TEST_FUZZ_FUZZ_H
