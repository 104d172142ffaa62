//===- ScalarKernel.cpp - the scalars of a step ---------------------------===//

#include "Optimizers.h"

#include "dialects/Zero/Zero.h"

using namespace mlir;

namespace zero {

bool countsUpdates(ArrayRef<GroupOptimizer> groups, const ScheduleOptions &schedule) {
  return !schedule.isConstant() || llvm::any_of(groups, [](const GroupOptimizer &group) {
    return group.schedule && !group.schedule->isConstant();
  });
}

SmallVector<ScalarState> scalarStatesOf(ArrayRef<GroupOptimizer> groups) {
  SmallVector<ScalarState> all;
  for (const GroupOptimizer &group : groups)
    for (const ScalarState &state : group.optimizer->scalarStates())
      if (llvm::none_of(all, [&](const ScalarState &other) { return other.name == state.name; }))
        all.push_back(state);
  return all;
}

/// The places in `all` of the states of `optimizer`.
static SmallVector<unsigned> placesOf(const Optimizer &optimizer, ArrayRef<ScalarState> all) {
  return llvm::map_to_vector(optimizer.scalarStates(), [&](const ScalarState &state) {
    const auto *found =
        llvm::find_if(all, [&](const ScalarState &other) { return other.name == state.name; });
    return unsigned(found - all.begin());
  });
}

func::FuncOp buildScalarKernel(ModuleOp module, ArrayRef<GroupOptimizer> groups,
                               const ScheduleOptions &schedule, StringRef name) {
  MLIRContext *context = module.getContext();
  Type f64 = Float64Type::get(context), f32 = Float32Type::get(context);
  const SmallVector<ScalarState> allStates = scalarStatesOf(groups);
  const bool counts = countsUpdates(groups, schedule);
  unsigned numStates = allStates.size() + counts;
  unsigned numScalars = 0;
  for (const GroupOptimizer &group : groups)
    numScalars += group.optimizer->numScalars();
  SmallVector<Type> inputs(1, RankedTensorType::get({}, f32));
  inputs.append(numStates, RankedTensorType::get({}, f64));
  SmallVector<Type> results(numStates, RankedTensorType::get({}, f64));
  results.append(1 + numScalars, RankedTensorType::get({}, f32));
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
  Value count;
  if (counts) {
    count = states.front();
    states = states.drop_front();
    next.push_back(f.add(count, f.constant(1, f64)));
  }
  auto scheduled = [&](const ScheduleOptions &own) {
    return own.isConstant() ? lr : f.mul(lr, buildSchedule(builder, loc, count, own));
  };
  Value rate = scheduled(schedule);
  SmallVector<Value> nextStates(allStates.size());
  for (const GroupOptimizer &group : groups) {
    Value groupRate = group.schedule ? scheduled(*group.schedule) : rate;
    if (group.learningRateScale != 1)
      groupRate = f.mul(groupRate, f.constant(group.learningRateScale, f64));
    const SmallVector<unsigned> places = placesOf(*group.optimizer, allStates);
    SmallVector<Value> own, made;
    for (unsigned place : places)
      own.push_back(states[place]);
    group.optimizer->buildScalars(builder, loc, groupRate, own, made);
    for (auto [place, value] : llvm::zip(places, made))
      if (!nextStates[place])
        nextStates[place] = value;
    llvm::append_range(scalars, ArrayRef<Value>(made).drop_front(places.size()));
  }
  llvm::append_range(next, nextStates);
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
