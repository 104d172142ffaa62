//===- About.h - what is known of an option ---------------------*- C++ -*-===//
// An option says beside its name when it has an effect, which values it may have, and how help
// texts and DeepSpeed's configuration name it. Tools derive their checks, texts and keys from that.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_OPTIONS_ABOUT_H
#define ZERO_PIPELINES_OPTIONS_ABOUT_H

#include "zero/Pipelines/ByteSizeOption.h"

#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cfloat>
#include <cmath>
#include <optional>
#include <string>

namespace zero {

struct PhaseOptions;

namespace phase {

/// Returns what the option `name` has no effect with: "--zero-stage=1, which does not shard
/// parameters"; an empty text if the condition holds. A flag that is given although one of its
/// conditions does not hold is an error of the tools.
using Condition = std::string(const PhaseOptions &options, llvm::StringRef name);
/// Returns what is wrong with the value of an option, ": expected ..., got ...", or an empty text.
using Check = std::string(const PhaseOptions &options);

/// The values that a number may have, and their description.
struct Range {
  double least, most;
  std::string text;
};

struct About {
  llvm::SmallVector<Condition *, 2> conditions;
  bool isOfStep = false; ///< it decides what a step computes, and not only how it runs
  std::optional<Range> range = {};
  Check *check = nullptr;
  std::optional<std::string> fallback = {}; ///< what help texts say of the default; none: its value
  llvm::StringRef heading = "", brief = ""; ///< of the short help
  llvm::StringRef deepSpeed = "";           ///< the key of a configuration

  About from(double least, double most) && {
    return std::move(*this).within(least, most,
                                   llvm::formatv("{0:f0} to {1:f0}", least, most).str());
  }
  About atLeastOne() && { return std::move(*this).within(1, HUGE_VAL, "at least 1"); }
  About notNegative() && { return std::move(*this).within(0, DBL_MAX, "a finite number >= 0"); }
  About positive() && {
    return std::move(*this).within(DBL_TRUE_MIN, FLT_MAX, "a positive number");
  }
  About within(double least, double most, std::string text) && {
    range = {least, most, std::move(text)};
    return std::move(*this);
  }
  About checked(Check &by) && { return check = &by, std::move(*this); }
  About orElse(std::string text) && { return fallback = std::move(text), std::move(*this); }
  About inShort(llvm::StringRef under, llvm::StringRef text) && {
    return heading = under, brief = text, std::move(*this);
  }
  About fromDeepSpeed(llvm::StringRef key) && { return deepSpeed = key, std::move(*this); }
};

template <typename... Conditions>
About appliesIf(Conditions &...conditions) {
  return {{&conditions...}};
}
template <typename... Conditions>
About ofStep(Conditions &...conditions) {
  return {{&conditions...}, /*isOfStep=*/true};
}
inline About always() { return {}; }

/// An option that is described.
struct Described {
  About about;

  Described() = default;
  explicit Described(About about) : about(std::move(about)) {}
  virtual ~Described() = default;
  /// The value as help texts and messages have it; empty of lists and switches.
  virtual std::string text() const = 0;
  /// The value, if it is a number.
  virtual std::optional<double> number() const = 0;
};

/// `Base`, an option of MLIR, that may have a description after its name.
template <typename Base>
struct Applicable : Base, Described {
  template <typename... Args>
  Applicable(mlir::detail::PassOptions &parent, llvm::StringRef name, Args &&...args)
      : Base(parent, name, std::forward<Args>(args)...) {}
  template <typename... Args>
  Applicable(mlir::detail::PassOptions &parent, llvm::StringRef name, About about, Args &&...args)
      : Base(parent, name, std::forward<Args>(args)...), Described(std::move(about)) {}
  using Base::operator=;

  std::string text() const override {
    std::string text;
    llvm::raw_string_ostream os(text);
    if constexpr (requires(const Base &self) { self.getValue(); }) {
      using T = std::decay_t<decltype(std::declval<const Base &>().getValue())>;
      if constexpr (std::is_same_v<T, double>)
        os << llvm::format("%g", Base::getValue());
      else if constexpr (!std::is_same_v<T, bool>)
        os << Base::getValue();
    }
    return text;
  }
  std::optional<double> number() const override {
    if constexpr (requires(const Base &self) { double(self.getValue()); })
      return double(Base::getValue());
    return std::nullopt;
  }
};

} // namespace phase

/// The conditions.
namespace needs {

phase::Condition training,
    givenStage,       ///< no planner chooses the stage
    stage3,           ///< parameters are sharded, or a planner may shard them
    microBatches,     ///< there are several
    lateSums,         ///< gradients of several micro-batches may be summed over ranks at once
    recomputation,    ///< of layers
    noSlots,          ///< the number of saved layers does not determine what is recomputed
    bits16,           ///< --precision is a type of 16 bits
    narrowerFrozen,   ///< frozen parameters may be stored in less bits than the others
    fp16,             ///< it is fp16
    dynamicScale,     ///< the loss scale is not fixed
    frozenParameters, ///< there may be some
    adapters,         ///< some are added
    trainedBase,      ///< not all parameters but those of adapters are frozen
    noList,           ///< no file lists what is trained
    noMesh,           ///< nothing says the ranks along axes
    cpuRanks,         ///< ranks run on the CPU
    cpuKernels,       ///< some kernels are compiled for the CPU
    ownBudgets,       ///< the device and the host have a budget each
    budget,           ///< one limits plans
    timedPlan,        ///< something depends on the speed of the machine
    decay,            ///< some weights decay
    average,          ///< one of parameters is kept
    hyperparameter,   ///< of the optimizer
    matrixOptimizer;  ///< the optimizer updates matrices only

} // namespace needs

/// The checks.
namespace valid {

phase::Check allowPrecision, dataRoot, ema, lrPoints, mesh, noDecay, otherOptimizer, paramGroups,
    targetCpu;

} // namespace valid

} // namespace zero

#endif // ZERO_PIPELINES_OPTIONS_ABOUT_H
