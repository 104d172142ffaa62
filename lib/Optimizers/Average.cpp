//===- Average.cpp - averages of parameters over updates ------------------===//
//
// An average is a state of the optimizer that the update of a parameter advances. So it is sharded,
// offloaded, saved and resumed as other states are.
//
//===----------------------------------------------------------------------===//

#include "zero/Optimizers/Average.h"

#include "Optimizers.h"
#include "runtime/support/checked.h"

using namespace mlir;

namespace zero {

std::optional<AverageOptions> parseAverage(StringRef text, std::string &error) {
  if (text == "mean")
    return AverageOptions{};
  double decay = 0;
  if (parseReal(std::string_view(text), decay) && decay >= 0 && decay < 1)
    return AverageOptions{decay};
  error = ("expected 'mean', or a decay rate from 0 to below 1, got '" + text + "'").str();
  return std::nullopt;
}

namespace {

/// Another optimizer, with one more state, which is the first, and one more scalar, which is the
/// last: the weight of the next value of the parameter.
class AveragedOptimizer : public Optimizer {
public:
  AveragedOptimizer(std::unique_ptr<Optimizer> optimizer, const AverageOptions &options)
      : Optimizer(optimizer->getSettings()), own(std::move(optimizer)), options(options) {}

  SmallVector<ParameterState> states() const override {
    SmallVector<ParameterState> all{{.suffix = kAverageSuffix.str(), .isAverage = true}};
    llvm::append_range(all, own->states());
    return all;
  }
  SmallVector<ScalarState> scalarStates() const override {
    SmallVector<ScalarState> all = own->scalarStates();
    all.push_back({"optimizer.average_updates", 0.0});
    return all;
  }
  unsigned numScalars() const override { return own->numScalars() + 1; }

  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    SmallVector<Value> made;
    own->buildScalars(builder, loc, lr, states.drop_back(), made);
    Formula f(builder, loc);
    Value updates = f.add(states.back(), f.constant(1, states.back().getType()));
    const size_t numStates = states.size() - 1;
    results.append(made.begin(), made.begin() + numStates);
    results.push_back(updates);
    results.append(made.begin() + numStates, made.end());
    results.push_back(buildWeight(builder, loc, updates));
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    SmallVector<Value> others(operands.drop_back());
    others.erase(others.begin() + 1);
    own->buildUpdate(builder, loc, others, results);
    results.insert(results.begin() + 1,
                   interpolate(builder, loc, operands[1], results.front(), operands.back()));
  }

  bool isOfTensors() const override { return own->isOfTensors(); }
  SmallVector<TensorState> tensorStates(ArrayRef<int64_t> shape) const override {
    return own->tensorStates(shape);
  }
  void buildTensorStep(OpBuilder &builder, Location loc, Value gradient, ValueRange states,
                       Value squares, ValueRange scalars,
                       SmallVectorImpl<Value> &results) const override {
    own->buildTensorStep(builder, loc, gradient, states, squares, scalars.drop_back(), results);
  }

  bool isOfMatrices() const override { return own->isOfMatrices(); }
  unsigned numDirectionStates() const override { return own->numDirectionStates(); }
  int64_t largestSide() const override { return own->largestSide(); }
  void buildMatrixDirection(OpBuilder &builder, Location loc, ValueRange operands,
                            SmallVectorImpl<Value> &results) const override {
    own->buildMatrixDirection(builder, loc, operands.drop_back(), results);
  }
  void buildMatrixStep(MatrixBuilder &matrices, Value direction, ValueRange states,
                       SmallVectorImpl<Value> &results) const override {
    own->buildMatrixStep(matrices, direction, states, results);
  }
  double scoreLimit() const override { return own->scoreLimit(); }
  Value buildScaledStep(Formula &f, Value parameter, Value step, Value factor,
                        ValueRange scalars) const override {
    return own->buildScaledStep(f, parameter, step, factor, scalars.drop_back());
  }
  std::string describeMatrixStep(ArrayRef<int64_t> shape,
                                 MatrixOrientation orientation) const override {
    return own->describeMatrixStep(shape, orientation);
  }

private:
  Value buildWeight(OpBuilder &builder, Location loc, Value updates) const;
  Value interpolate(OpBuilder &builder, Location loc, Value average, Value next,
                    Value weight) const;

  std::unique_ptr<Optimizer> own;
  AverageOptions options;
};

} // namespace

/// The weight of the value after so many `updates`, of which this is one: 0 if it does not count.
Value AveragedOptimizer::buildWeight(OpBuilder &builder, Location loc, Value updates) const {
  Formula f(builder, loc);
  Type type = updates.getType();
  auto compare = [&](arith::CmpFPredicate predicate, Value left, Value right) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, left, right);
  };
  Value zero = f.constant(0, type), one = f.constant(1, type);
  // The number of values before it.
  Value number = f.div(f.sub(updates, f.constant(double(options.start), type)),
                       f.constant(double(options.every), type));
  Value isWhole =
      compare(arith::CmpFPredicate::OEQ, number, math::FloorOp::create(builder, loc, number));
  Value counts = arith::AndIOp::create(builder, loc, isWhole,
                                       compare(arith::CmpFPredicate::OGE, number, zero));
  Value weight = options.decay
                     ? f.select(f.isZero(number), one, f.constant(1 - *options.decay, type))
                     : f.div(one, f.add(number, one));
  return f.select(counts, weight, zero);
}

/// The value between `average` and `next`, from that end which is nearer, so that it is `next` for
/// a weight of 1 and `average` for one of 0.
Value AveragedOptimizer::interpolate(OpBuilder &builder, Location loc, Value average, Value next,
                                     Value weight) const {
  Formula f(builder, loc);
  Type type = next.getType();
  Value difference = f.sub(next, average);
  Value isSmall =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, weight, f.constant(0.5, type));
  return f.select(isSmall, f.fma(weight, difference, average),
                  f.fma(f.sub(weight, f.constant(1, type)), difference, next));
}

std::unique_ptr<Optimizer> addAverage(std::unique_ptr<Optimizer> optimizer,
                                      const AverageOptions &options) {
  return std::make_unique<AveragedOptimizer>(std::move(optimizer), options);
}

} // namespace zero
