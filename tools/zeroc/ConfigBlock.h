//===- ConfigBlock.h - typed access to an object of JSON --------*- C++ -*-===//

#ifndef TOOLS_ZEROC_CONFIGBLOCK_H
#define TOOLS_ZEROC_CONFIGBLOCK_H

#include "Config.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

namespace zero {

/// An object of the configuration. Reading a key makes it a known one; what is not
/// known in the end is an error. A value of null or "auto" is none; of "auto" the flag holds that
/// tie() names.
class ConfigBlock {
public:
  ConfigBlock(Config &config, const llvm::json::Object &object, std::string path = "")
      : config(config), object(object), path(std::move(path)) {}

  std::optional<bool> readBool(llvm::StringRef key);
  std::optional<double> readNumber(llvm::StringRef key);
  /// A whole number, not negative; 5e8 is one.
  std::optional<uint64_t> readCount(llvm::StringRef key);
  std::optional<std::string> readWord(llvm::StringRef key);
  /// Two numbers, joined by a comma.
  std::optional<std::string> readPair(llvm::StringRef key);
  /// The object under `key`; an empty one if there is none.
  ConfigBlock readBlock(llvm::StringRef key);

  /// Reads the number of the flag whose definition names `key`, and sets the flag if the key
  /// `isUsed`.
  void take(llvm::StringRef key, bool isUsed = true);
  /// Sets a flag from a number, if there is one.
  void setNumber(llvm::StringRef key, llvm::StringRef flag);
  void set(llvm::StringRef key, llvm::StringRef flag, llvm::StringRef value);
  /// Where the value of `key` is "auto", `flag` says it.
  void tie(llvm::StringRef key, llvm::StringRef flag) { config.tie(pathOf(key), flag); }
  bool isAuto(llvm::StringRef key) const {
    return object.getString(key) == llvm::StringRef("auto");
  }

  /// Keys, separated by spaces, that are known but have no meaning here.
  void ignore(llvm::StringRef keys);
  /// Keys that must have one of `neutral`, written as JSON, if they are there: anything
  /// else is refused for `reason`.
  void expect(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> neutral, llvm::StringRef reason);
  /// Blocks that may be there if they are switched off.
  void expectDisabled(llvm::StringRef key, llvm::StringRef reason);

  /// Reports keys that no function has read.
  void finish();

  bool has(llvm::StringRef key) { return find(key) != nullptr; }
  /// The path of `key`: "fp16.enabled".
  std::string pathOf(llvm::StringRef key) const;
  /// The value of `key` as messages show it.
  std::string show(llvm::StringRef key) const;
  /// An error at `key`: "fp16.enabled: expected true or false, got 3".
  void refuse(llvm::StringRef key, const llvm::Twine &expected);

private:
  const llvm::json::Value *find(llvm::StringRef key);
  /// What `get` makes of the value of `key`; an error that expects `what` if nothing.
  template <typename Get>
  auto read(llvm::StringRef key, const char *what, Get get);

  Config &config;
  const llvm::json::Object &object;
  std::string path;
  llvm::SmallVector<std::string> known;
};

/// `value` with as few digits as say it exactly.
std::string exactNumber(double value);

} // namespace zero

#endif // TOOLS_ZEROC_CONFIGBLOCK_H
