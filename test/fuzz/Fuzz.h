//===- Fuzz.h - mutates, runs, replays and minimises ------------*- C++ -*-===//
//
// What all fuzzers share. A fuzzer is a Target and a main function that hands it
// to runFuzzer; README.md says how to use it.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include "Isolate.h"
#include "Random.h"

#include <functional>
#include <string>

namespace zero::fuzz {

/// One input of what is tested. In a folder it is NAME.OPTIONS.EXTENSION.
struct Case {
  std::string bytes;
  std::string extension; ///< without the dot
  uint64_t options = 0;  ///< which flags it runs with
};

class Target {
public:
  virtual ~Target() = default;
  /// What it is called in --help.
  virtual const char *summary() const = 0;
  /// Takes `seed` into the pool that mutants are made from.
  virtual void addSeed(const Case &seed) = 0;
  /// A mutant of the pool.
  virtual Case mutate(Random &random) = 0;
  /// Puts what cases refer to into the empty folder `scratch`.
  virtual void prepare(const std::string &scratch) {}
  /// Runs a case in `scratch`. Ends the process if it finds something wrong.
  virtual Verdict run(const Case &input, const std::string &scratch) = 0;
  /// Tries smaller cases; `keep` says whether one still fails the same way, and
  /// then it takes the place of `input`.
  virtual void reduce(Case &input, const std::function<bool(const Case &)> &keep);
};

/// The main function of a fuzzer.
int runFuzzer(Target &target, int argc, char **argv);

} // namespace zero::fuzz

#endif // TEST_FUZZ_FUZZ_H
