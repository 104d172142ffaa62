//===- ScalarKernel.cpp - the scalars of a step ---------------------------===//

#include "Optimizers.h"

#include "dialects/Zero/Zero.h"

using namespace mlir;

namespace zero {

/// Appends the next values of `states`, the first of them the number of updates if the
/// learning rate follows a schedule, then the learning rate of this step.
static Value scheduleRate(OpBuilder &builder, Location loc, Value lr,
                          const ScheduleOptions &schedule, ValueRange &states,
                          SmallVectorImpl<Value> &next) {
  if (schedule.isConstant())
    return lr;
  Formula f(builder, loc);
  Value count = states.front();
  states = states.drop_front();
  next.push_back(f.add(count, f.constant(1, count.getType())));
  return f.mul(lr, buildSchedule(builder, loc, count, schedule));
}

func::FuncOp buildScalarKernel(ModuleOp module, ArrayRef<GroupOptimizer> groups,
                               const ScheduleOptions &schedule, StringRef name) {
  MLIRContext *context = module.getContext();
  Type f64 = Float64Type::get(context), f32 = Float32Type::get(context);
  const Optimizer &first = *groups.front().optimizer;
  unsigned ownStates = first.scalarStates().size();
  unsigned numStates = ownStates + !schedule.isConstant();
  SmallVector<Type> inputs(1, RankedTensorType::get({}, f32));
  inputs.append(numStates, RankedTensorType::get({}, f64));
  SmallVector<Type> results(numStates, RankedTensorType::get({}, f64));
  results.append(1 + groups.size() * first.numScalars(), RankedTensorType::get({}, f32));
  func::FuncOp kernel = startKernel(module, name, inputs, results);

  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(builder, loc);
  SmallVector<Value> elements;
  for (Value argument : kernel.getArguments())
    elements.push_back(f.element(argument));
  Value lr = f.cast(elements.front(), f64);
  ValueRange states = ArrayRef<Value>(elements).drop_front();
  SmallVector<Value> next, scalars;
  Value rate = scheduleRate(builder, loc, lr, schedule, states, next);
  for (auto [index, group] : llvm::enumerate(groups)) {
    Value groupRate =
        group.learningRateScale == 1 ? rate : f.mul(rate, f.constant(group.learningRateScale, f64));
    SmallVector<Value> made;
    group.optimizer->buildScalars(builder, loc, groupRate, states, made);
    if (index == 0)
      llvm::append_range(next, ArrayRef<Value>(made).take_front(ownStates));
    llvm::append_range(scalars, ArrayRef<Value>(made).drop_front(ownStates));
  }
  SmallVector<Value> returned;
  for (Value state : next)
    returned.push_back(f.tensor(state));
  returned.push_back(f.tensor(f.cast(rate, f32)));
  for (Value value : scalars)
    returned.push_back(f.tensor(f.cast(value, f32)));
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

} // namespace zero
