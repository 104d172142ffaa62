//===- Config.h - settings from a DeepSpeed configuration -------*- C++ -*-===//
//
// Translates the keys of a DeepSpeed configuration into zeroc's flags. A key is
// understood, known but without meaning here, or an error. docs/reference/config.md has the table.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ZEROC_CONFIG_H
#define TOOLS_ZEROC_CONFIG_H

#include "CommandLine.h"

#include <map>
#include <optional>

namespace zero {

/// A flag that the configuration sets.
struct ConfigSetting {
  std::string flag, value; ///< as on the command line
  std::string key, shown;  ///< as in the file; an empty key: DeepSpeed's default
};

/// What a configuration asks for, beside what the command line says.
class Config {
public:
  Config(std::string file, const Flags &flags, const GivenFlags &given)
      : file(std::move(file)), flags(flags), given(given) {}

  /// Reads the file; returns what is wrong with it, or nothing.
  std::string read();

  const std::vector<ConfigSetting> &getSettings() const { return settings; }
  /// Keys without meaning here, in alphabetical order.
  const std::vector<std::string> &getIdle() const { return idle; }
  /// Keys with the value "auto", each with the flag that says its value; none of the batch, which
  /// the model and the ranks say.
  const std::map<std::string, std::string> &getAutos() const { return autos; }
  /// Samples that each rank takes at once, or 0, and where that is written.
  uint64_t getLocalBatch() const { return localBatch; }
  const std::string &getLocalBatchKey() const { return localBatchKey; }

  /// Remembers the first error.
  void fail(const llvm::Twine &message);
  /// Makes `key`, which is written as `shown`, the source of a flag; an error if the
  /// command line says otherwise.
  void set(llvm::StringRef flag, llvm::StringRef value, llvm::StringRef key, llvm::StringRef shown);
  /// What holds if neither the command line nor the configuration says anything.
  void setDefault(llvm::StringRef flag, llvm::StringRef value);
  /// The flag whose definition names `key`.
  const Flag &flagOf(llvm::StringRef key) const;
  /// A key of the file with a value, as messages show it.
  void addRead(std::string key, std::string shown) { all.try_emplace(std::move(key), shown); }
  const std::map<std::string, std::string> &getRead() const { return all; }
  void addAuto(std::string key) { autos.try_emplace(std::move(key)); }
  /// `flag` says the value of `key` if that is "auto".
  void tie(const std::string &key, llvm::StringRef flag) {
    if (auto found = autos.find(key); found != autos.end())
      found->second = flag.str();
  }
  void addIdle(std::string key) { idle.push_back(std::move(key)); }
  void setLocalBatch(uint64_t batch, std::string key) {
    localBatch = batch;
    localBatchKey = std::move(key);
  }
  /// The value that `flag` has by now, if it has one.
  std::optional<llvm::StringRef> valueOf(llvm::StringRef flag) const;
  /// That of the command line, if it has one.
  std::optional<llvm::StringRef> givenValue(llvm::StringRef flag) const;

private:
  std::string file;
  const Flags &flags;
  const GivenFlags &given;
  std::vector<ConfigSetting> settings;
  std::vector<std::string> idle;
  std::map<std::string, std::string> autos, all;
  std::string error;
  uint64_t localBatch = 0;
  std::string localBatchKey;
};

} // namespace zero

#endif // TOOLS_ZEROC_CONFIG_H
