//===- Keys.h - typed access to the keys of a JSON object -------*- C++ -*-===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_KEYS_H
#define LIB_FRONTENDS_HUGGINGFACE_KEYS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace zero::hf {

/// Sizes are below this, so that the bytes of a matrix fit 64 bits.
inline constexpr int64_t kMaxSize = int64_t(1) << 28;

/// The JSON object in the file at `path`.
llvm::Expected<llvm::json::Object> readObject(llvm::StringRef path);

/// The keys of an object over defaults. A value of another kind than is asked for is an error that
/// names the key and the value, and the fallback is returned.
class Keys {
public:
  /// Messages put `prefix` before the names of keys.
  Keys(llvm::json::Object object, mlir::Location loc, std::string prefix = "")
      : object(std::move(object)), loc(loc), prefix(std::move(prefix)) {}

  /// Sets the key if the object lacks it.
  void addDefault(llvm::StringRef key, llvm::json::Value value);
  /// Moves the value of `from` to `to`, which the object may have only with the same value.
  void rename(llvm::StringRef from, llvm::StringRef to);

  /// Whether the key has a value that is not null.
  bool has(llvm::StringRef key) const;
  /// A size: a positive integer below 2^28.
  int64_t size(llvm::StringRef key, int64_t fallback = 0);
  int64_t integer(llvm::StringRef key, int64_t fallback);
  double number(llvm::StringRef key, double fallback);
  bool flag(llvm::StringRef key, bool fallback = false);
  std::string text(llvm::StringRef key, llvm::StringRef fallback = "");
  std::vector<double> numbers(llvm::StringRef key);
  std::vector<std::string> texts(llvm::StringRef key);
  const llvm::json::Object *dictionary(llvm::StringRef key);

  /// Reports that `key` has an effect that is not built, or a bad value: "expected " `expected`.
  void refuse(llvm::StringRef key, const llvm::Twine &expected);
  /// Refuses each key that `isKnown` does not know and whose value is not null or false.
  void refuseOthers(llvm::function_ref<bool(llvm::StringRef)> isKnown, llvm::StringRef owner);

  mlir::Location getLoc() const { return loc; }
  bool hasErrors() const { return errors > 0; }
  void addErrors(const Keys &others) { errors += others.errors; }

private:
  const llvm::json::Value *find(llvm::StringRef key) const;
  /// The value of `key` by `get`, or `fallback`; `kind` says what is expected.
  template <typename T>
  T read(llvm::StringRef key, T fallback, std::optional<T> (*get)(const llvm::json::Value &),
         const char *kind);
  template <typename T>
  std::vector<T> readList(llvm::StringRef key, std::optional<T> (*get)(const llvm::json::Value &),
                          const char *kind);
  mlir::InFlightDiagnostic fail(llvm::StringRef key);

  llvm::json::Object object;
  mlir::Location loc;
  std::string prefix;
  unsigned errors = 0;
};

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_KEYS_H
