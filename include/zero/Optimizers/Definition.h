//===- Definition.h - definitions of optimizers -----------------*- C++ -*-===//
// One definition per optimizer, in its own file of lib/Optimizers/Definitions: its names, its
// hyperparameters and its constructor. Flags, help, checks, the keys of a DeepSpeed configuration,
// docs/reference/optimizers.md and the tests against PyTorch are derived from it.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_DEFINITION_H
#define ZERO_OPTIMIZERS_DEFINITION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zero {

class Optimizer;
class Settings;

/// The values of a hyperparameter: a boolean, numbers of a range, or a word of a list.
enum class Range { Switch, Any, NotNegative, Positive, NotPositive, BelowOne, Count, Word };

struct Hyperparameter {
  llvm::StringLiteral flag; ///< zeroc's flag: "weight-decay"
  Range range;
  llvm::SmallVector<double, 2> defaults; ///< one for each of its numbers; none for others
  llvm::StringLiteral meaning;
  /// Its name in PyTorch and DeepSpeed; empty: the flag with underscores.
  llvm::StringLiteral foreignKey = "";
  /// Those it may be, the default first.
  llvm::SmallVector<llvm::StringLiteral, 2> words = {};
  /// A switch whose foreign key is true where it is off.
  bool isNegation = false;

  std::string key() const;
  bool isSwitch() const { return range == Range::Switch; }
  bool isWord() const { return range == Range::Word; }
};

/// The one that every optimizer has: parameter groups may set it.
inline constexpr llvm::StringLiteral kWeightDecay = "weight-decay";

/// A key of `optimizer.params` that is accepted only with the value that always holds in Zero.
struct NeutralKey {
  llvm::StringLiteral key, value, reason;
};

/// Properties of the optimizer in DeepSpeed's configuration.
struct DeepSpeedNames {
  llvm::StringLiteral type = ""; ///< `optimizer.type`, in any case
  std::vector<NeutralKey> neutral = {};
  /// The type means the optimizer `insteadBy` unless the key `unless` is false.
  llvm::StringLiteral insteadBy = "", unless = "";
  /// If so and the key `when` is true, `flag` is `value` unless it is set.
  llvm::StringLiteral when = "", flag = "", value = "";
  /// Of an optimizer of matrices: the keys of both learning rates, each "lr" if absent; and the
  /// other optimizer, with the keys that are its own and their defaults.
  llvm::StringLiteral matrixRate = "", otherRate = "", other = "";
  std::vector<std::pair<llvm::StringLiteral, llvm::StringLiteral>> ofOther = {};
};

struct OptimizerDefinition {
  llvm::StringLiteral name;    ///< name in --optimizer
  llvm::StringLiteral summary; ///< one line
  llvm::StringLiteral source;  ///< the paper
  llvm::StringLiteral torch;   ///< the class of torch.optim; empty: there is none
  DeepSpeedNames deepSpeed = {};
  /// In the order in which they are described.
  std::vector<Hyperparameter> hyperparameters = {};
  /// Flags of the test runs that are compared with PyTorch, each with a learning rate.
  std::vector<llvm::StringLiteral> examples = {};
  std::unique_ptr<Optimizer> (*create)(const Settings &);
  /// An error message for values that are valid individually, "flag: expected ..."; or null.
  std::string (*check)(const Settings &) = nullptr;
  /// The file that defines it, "Adam": set by the registry.
  llvm::StringRef file = {};

  /// Null if it has no such hyperparameter.
  const Hyperparameter *find(llvm::StringRef flag) const;
  /// For messages: "--betas, --eps and --weight-decay".
  std::string flags() const;
};

/// All definitions, by file and in the order of each.
llvm::ArrayRef<OptimizerDefinition> allOptimizers();
/// The one of this name, in any case; null if there is none.
const OptimizerDefinition *findOptimizer(llvm::StringRef name);
/// For messages: "adam, adamw or sgd".
const std::string &optimizerNames();

/// A flag of one or more optimizers.
struct OptimizerFlag {
  llvm::StringRef name;
  bool isSwitch, isWord;
  std::string valueName; ///< in usage: "number,number"
  std::string help;      ///< its meaning for each optimizer, with defaults
};
/// Every flag of `allOptimizers` once, in their order.
llvm::ArrayRef<OptimizerFlag> optimizerFlags();
/// Null if no optimizer has it.
const OptimizerFlag *findOptimizerFlag(llvm::StringRef name);

/// The requested optimizer and settings.
struct OptimizerOptions {
  std::string name = "adamw";
  /// By flag; an enabled switch has a 1. Absent flags have their defaults.
  std::map<std::string, llvm::SmallVector<double, 2>, std::less<>> given = {};
  /// Those of flags that are words.
  std::map<std::string, std::string, std::less<>> words = {};

  /// "flag=1,2 switch", in the form that `parse` reads, with all significant digits.
  std::string text() const;
  /// Parses settings into `given`; returns an error message, or an empty string.
  std::string parse(llvm::StringRef text);
  /// An error message, "flag: expected ...", or an empty string: for an unknown name, a flag that
  /// the optimizer does not have, or a value out of range.
  std::string check() const;
};

/// Parses "name:flag=1,2:switch" into `options` and checks it; returns an error message, or an
/// empty string.
std::string parseOtherOptimizer(llvm::StringRef text, OptimizerOptions &options);

/// Values of all hyperparameters of one optimizer.
class Settings {
public:
  /// `options` must be valid.
  explicit Settings(const OptimizerOptions &options);

  const OptimizerDefinition &definition() const { return *defined; }
  llvm::ArrayRef<double> numbers(llvm::StringRef flag) const { return values.at(flag); }
  double number(llvm::StringRef flag) const { return numbers(flag).front(); }
  bool isOn(llvm::StringRef flag) const { return number(flag) != 0; }
  llvm::StringRef word(llvm::StringRef flag) const;
  /// For messages: "adamw(betas=0.9,0.999 eps=1e-08 weight_decay=0.01)".
  std::string describe() const;

private:
  const OptimizerDefinition *defined;
  llvm::StringMap<llvm::SmallVector<double, 2>> values;
  llvm::StringMap<std::string> words;
};

/// Creates the optimizer of `options`, or returns null and a message in `error`.
std::unique_ptr<Optimizer> createOptimizer(const OptimizerOptions &options, std::string &error);

} // namespace zero

#endif // ZERO_OPTIMIZERS_DEFINITION_H
