//===- Definition.h - what an optimizer is ----------------------*- C++ -*-===//
//
// One definition per optimizer, in its own file of lib/Optimizers/Definitions: its
// names, its hyperparameters and how to make it. Flags, help, checks, the keys of a
// DeepSpeed configuration, docs/reference/optimizers.md and the tests against PyTorch come from it.
//
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

/// What a hyperparameter may be: a truth value, or numbers of a range.
enum class Range { Switch, Any, NotNegative, Positive, NotPositive, BelowOne };

struct Hyperparameter {
  llvm::StringLiteral flag; ///< zeroc's flag: "weight-decay"
  Range range;
  llvm::SmallVector<double, 2> defaults; ///< one for each of its numbers; none of a switch
  llvm::StringLiteral meaning;
  /// As PyTorch and DeepSpeed call it; empty: the flag with underscores.
  llvm::StringLiteral foreignKey = "";

  std::string key() const;
  bool isSwitch() const { return range == Range::Switch; }
};

/// The one that every optimizer has: parameter groups may set it.
inline constexpr llvm::StringLiteral kWeightDecay = "weight-decay";

/// A key of `optimizer.params` that may only say what holds here anyway.
struct NeutralKey {
  llvm::StringLiteral key, value, reason;
};

/// What DeepSpeed's configuration has of its own.
struct DeepSpeedNames {
  llvm::StringLiteral type = ""; ///< `optimizer.type`, in any case
  std::vector<NeutralKey> neutral = {};
  /// It is the optimizer `insteadBy` unless the key `unless` is false.
  llvm::StringLiteral insteadBy = "", unless = "";
  /// And if it is and the key `when` is true, `flag` is `value` where nothing sets it.
  llvm::StringLiteral when = "", flag = "", value = "";
};

struct OptimizerDefinition {
  llvm::StringLiteral name;    ///< as in --optimizer
  llvm::StringLiteral summary; ///< one line
  llvm::StringLiteral source;  ///< the paper
  llvm::StringLiteral torch;   ///< the class of torch.optim; empty: there is none
  DeepSpeedNames deepSpeed = {};
  /// In the order in which they are described.
  std::vector<Hyperparameter> hyperparameters = {};
  /// Flags of runs that are compared with PyTorch, each with a learning rate.
  std::vector<llvm::StringLiteral> examples = {};
  std::unique_ptr<Optimizer> (*create)(const Settings &);
  /// What is wrong with values that are each in their range, "flag: expected ..."; or null.
  std::string (*check)(const Settings &) = nullptr;
  /// Where it is defined, "Adam": set by the registry.
  llvm::StringRef file = {};

  /// Null if it has none such.
  const Hyperparameter *find(llvm::StringRef flag) const;
  /// For people: "--betas, --eps and --weight-decay".
  std::string flags() const;
};

/// All definitions, by file and in the order of each.
llvm::ArrayRef<OptimizerDefinition> allOptimizers();
/// The one of this name, in any case; null if there is none.
const OptimizerDefinition *findOptimizer(llvm::StringRef name);
/// For people: "adam, adamw or sgd".
const std::string &optimizerNames();

/// A flag of one or more optimizers.
struct OptimizerFlag {
  llvm::StringRef name;
  bool isSwitch;
  std::string valueName; ///< of usage: "number,number"
  std::string help;      ///< what it means to whom, with defaults
};
/// Every flag of `allOptimizers` once, in their order.
llvm::ArrayRef<OptimizerFlag> optimizerFlags();

/// An optimizer as it is asked for.
struct OptimizerOptions {
  std::string name = "adamw";
  /// By flag; a switch that is on has a 1. What is absent has its default.
  std::map<std::string, llvm::SmallVector<double, 2>, std::less<>> given = {};

  /// "flag=1,2 switch", as `parse` reads it; every digit that counts.
  std::string text() const;
  /// Reads settings into `given`; returns what is wrong with them, or nothing.
  std::string parse(llvm::StringRef text);
  /// What is wrong, "flag: expected ...", or nothing: an unknown name, a flag that the
  /// optimizer has not, a value out of range.
  std::string check() const;
};

/// Values of all hyperparameters of one optimizer.
class Settings {
public:
  /// Of options without a fault.
  explicit Settings(const OptimizerOptions &options);

  const OptimizerDefinition &definition() const { return *defined; }
  llvm::ArrayRef<double> numbers(llvm::StringRef flag) const { return values.at(flag); }
  double number(llvm::StringRef flag) const { return numbers(flag).front(); }
  bool isOn(llvm::StringRef flag) const { return number(flag) != 0; }
  /// For people: "adamw(betas=0.9,0.999 eps=1e-08 weight_decay=0.01)".
  std::string describe() const;

private:
  const OptimizerDefinition *defined;
  llvm::StringMap<llvm::SmallVector<double, 2>> values;
};

/// The optimizer that `options` ask for, or null and a message in `error`.
std::unique_ptr<Optimizer> createOptimizer(const OptimizerOptions &options, std::string &error);

} // namespace zero

#endif // ZERO_OPTIMIZERS_DEFINITION_H
