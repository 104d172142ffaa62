//===- Fuzz.cpp - mutates, runs, replays and minimises --------------------===//

#include "Fuzz.h"
#include "Bytes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace zero::fuzz {

namespace {
struct Options {
  uint64_t seed = 1, first = 0, count = 1000;
  std::string out, log, minimise;
  bool replay = false, keep = false;
  std::vector<fs::path> files;
  Limits limits;
};

/// A folder that exists as long as the fuzzer runs.
class Scratch {
public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "zero-fuzz-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) {
      std::perror("mkdtemp");
      std::exit(2);
    }
    folder = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  const std::string &path() const { return folder; }

private:
  std::string folder;
};
} // namespace

void Target::reduce(Case &input, const std::function<bool(const Case &)> &keep) {
  for (size_t length = input.bytes.size() / 2; length > 0; length /= 2)
    for (size_t at = 0; at + length <= input.bytes.size();) {
      Case smaller = input;
      smaller.bytes.erase(at, length);
      if (keep(smaller))
        input = smaller;
      else
        at += length;
    }
}

/// The name "mutant-12.7.onnx" denotes a case with options 7.
static Case readCase(const fs::path &path) {
  Case made{readFile(path.string()), path.extension().string(), 0};
  made.extension.erase(0, 1);
  const std::string options = path.stem().extension().string();
  if (options.size() > 1)
    made.options = std::strtoull(options.c_str() + 1, nullptr, 10);
  return made;
}

static std::string fileName(const std::string &name, const Case &made) {
  return name + "." + std::to_string(made.options) + "." + made.extension;
}

static std::string nameOf(const Options &options, uint64_t index, const Case &made) {
  return fileName("mutant-" + std::to_string(options.seed) + "-" + std::to_string(index), made);
}

//===----------------------------------------------------------------------===//
// The three modes
//===----------------------------------------------------------------------===//

static void printFailure(const Failure &failure, const std::string &name) {
  constexpr size_t kMost = 3000;
  std::printf("FAILED %s: %s\n  %s\n", name.c_str(), failure.reason.c_str(),
              failure.signature.c_str());
  const bool isLong = failure.output.size() > kMost;
  std::printf("%s%s\n", failure.output.substr(0, kMost).c_str(), isLong ? "\n..." : "");
}

static void printTally(const Tally &tally, const char *what, double seconds) {
  std::printf("%llu %s: %llu accepted, %llu refused, %llu failed; slowest %.2f s (%llu), "
              "largest %llu MiB (%llu); %.0f s\n",
              static_cast<unsigned long long>(tally.accepted + tally.refused + tally.failed), what,
              static_cast<unsigned long long>(tally.accepted),
              static_cast<unsigned long long>(tally.refused),
              static_cast<unsigned long long>(tally.failed), tally.worstSeconds,
              static_cast<unsigned long long>(tally.worstSecondsCase),
              static_cast<unsigned long long>(tally.worstKiB / 1024),
              static_cast<unsigned long long>(tally.worstKiBCase), seconds);
}

/// Mutant `index` depends only on the seed, the index and the pool.
static Case mutant(Target &target, const Options &options, uint64_t index) {
  Random random(options.seed * 0x2545f4914f6cdd1dull + index);
  return target.mutate(random);
}

static void logVerdict(const Options &options, const std::string &scratch, uint64_t index,
                       Verdict verdict) {
  if (options.log.empty())
    return;
  std::string message = readFile(scratch + "/stderr");
  if (size_t error = message.find("error: "); error != std::string::npos)
    message.erase(0, error);
  message.resize(std::min(message.find('\n'), message.size()));
  if (FILE *log = std::fopen(options.log.c_str(), "a")) {
    std::fprintf(log, "%llu %s %s\n", static_cast<unsigned long long>(index),
                 verdict == Verdict::Accepted ? "accepted" : "refused", message.c_str());
    std::fclose(log);
  }
}

static Tally fuzz(Target &target, const Options &options, const std::string &scratch) {
  std::map<std::string, unsigned> seen;
  auto run = [&](uint64_t index) {
    Case made = mutant(target, options, index);
    if (options.keep)
      writeFile(options.out + "/" + nameOf(options, index, made), made.bytes);
    Verdict verdict = target.run(made, scratch);
    logVerdict(options, scratch, index, verdict);
    return verdict;
  };
  auto report = [&](const Failure &failure) {
    Case made = mutant(target, options, failure.index);
    std::string name = nameOf(options, failure.index, made);
    if (++seen[failure.signature] == 1)
      printFailure(failure, name);
    else
      std::printf("FAILED %s: again %s\n", name.c_str(), failure.signature.c_str());
    std::fflush(stdout);
    if (!options.out.empty())
      writeFile(options.out + "/" + name, made.bytes);
  };
  return runIsolated(options.first, options.first + options.count, scratch, options.limits, run,
                     report);
}

static Tally replay(Target &target, const Options &options, const std::string &scratch) {
  auto run = [&](uint64_t index) {
    Verdict verdict = target.run(readCase(options.files[index]), scratch);
    logVerdict(options, scratch, index, verdict);
    return verdict;
  };
  auto report = [&](const Failure &failure) {
    printFailure(failure, options.files[failure.index].string());
  };
  return runIsolated(0, options.files.size(), scratch, options.limits, run, report);
}

/// The signature of the failure of `input`; empty if it does not fail.
static std::string failureOf(Target &target, const Case &input, const Limits &limits,
                             const std::string &scratch) {
  std::string signature;
  runIsolated(
      0, 1, scratch, limits, [&](uint64_t) { return target.run(input, scratch); },
      [&](const Failure &failure) { signature = failure.signature; });
  return signature;
}

static int minimise(Target &target, const Options &options, const std::string &scratch) {
  Case input = readCase(options.files.at(0));
  const std::string expected = failureOf(target, input, options.limits, scratch);
  if (expected.empty()) {
    std::printf("'%s' does not fail\n", options.files[0].c_str());
    return 1;
  }
  std::printf("%zu bytes: %s\n", input.bytes.size(), expected.c_str());
  auto keep = [&](const Case &smaller) {
    return smaller.bytes.size() < input.bytes.size() &&
           failureOf(target, smaller, options.limits, scratch) == expected;
  };
  for (size_t before = 0; before != input.bytes.size();) {
    before = input.bytes.size();
    target.reduce(input, keep);
  }
  const std::string path = fileName(options.minimise, input);
  writeFile(path, input.bytes);
  std::printf("%zu bytes: %s\n", input.bytes.size(), path.c_str());
  return 0;
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static int printHelp(const Target &target) {
  std::printf("%s\n\n"
              "  FUZZER [--seed=N] [--first=N] [--count=N] [--out=FOLDER] [--log=FILE] SEED...\n"
              "      makes and runs COUNT mutants of the files SEED..., from number FIRST on;\n"
              "      those that fail (--keep: all) are written to FOLDER, verdicts and errors to\n"
              "      FILE\n"
              "  FUZZER --replay FILE...\n"
              "      runs files as they are\n"
              "  FUZZER --minimise=NAME FILE\n"
              "      writes the smallest file that fails as FILE does to NAME.OPTIONS.EXTENSION\n\n"
              "Folders stand for the files in them. --cpu-seconds=N, --mebibytes=N: limits of a "
              "case (100, 2048).\n",
              target.summary());
  return 0;
}

/// The number in "--name=number". Ends the program if there is none.
static uint64_t numberOf(const std::string &argument) {
  const std::string digits = argument.substr(argument.find('=') + 1);
  char *end = nullptr;
  const uint64_t value = std::strtoull(digits.c_str(), &end, 10);
  if (!digits.empty() && *end == '\0')
    return value;
  std::fprintf(stderr, "expected a number, got '%s'\n", argument.c_str());
  std::exit(2);
}

static void addFiles(std::vector<fs::path> &files, const fs::path &path) {
  if (!fs::is_directory(path))
    return files.push_back(path);
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with("."))
      files.push_back(entry.path());
}

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string value = argument.substr(std::min(argument.find('=') + 1, argument.size()));
    if (argument.starts_with("--seed="))
      options.seed = numberOf(argument);
    else if (argument.starts_with("--first="))
      options.first = numberOf(argument);
    else if (argument.starts_with("--count="))
      options.count = numberOf(argument);
    else if (argument.starts_with("--cpu-seconds="))
      options.limits.cpuSeconds = static_cast<double>(numberOf(argument));
    else if (argument.starts_with("--mebibytes="))
      options.limits.residentKiB = numberOf(argument) << 10;
    else if (argument.starts_with("--out="))
      options.out = value;
    else if (argument.starts_with("--log="))
      options.log = value;
    else if (argument.starts_with("--minimise="))
      options.minimise = value;
    else if (argument == "--replay")
      options.replay = true;
    else if (argument == "--keep")
      options.keep = true;
    else if (!argument.starts_with("-"))
      addFiles(options.files, argument);
    else
      options.files.clear(), i = argc;
  }
  // The pool must not depend on the order in which the system lists a folder.
  std::sort(options.files.begin(), options.files.end());
  return options;
}

int runFuzzer(Target &target, int argc, char **argv) {
  Options options = parse(argc, argv);
  if (options.files.empty())
    return printHelp(target), 2;
  Scratch scratch;
  target.prepare(scratch.path());
  if (!options.minimise.empty())
    return minimise(target, options, scratch.path());
  if (!options.out.empty())
    fs::create_directories(options.out);
  const auto start = std::chrono::steady_clock::now();
  if (!options.replay)
    for (const fs::path &file : options.files)
      target.addSeed(readCase(file));
  Tally tally = options.replay ? replay(target, options, scratch.path())
                               : fuzz(target, options, scratch.path());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  printTally(tally, options.replay ? "cases" : "mutants", took.count());
  return tally.failed == 0 ? 0 : 1;
}

} // namespace zero::fuzz
