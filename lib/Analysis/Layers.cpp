//===- Layers.cpp - layers of a step and the values they save -------------===//

#include "zero/Analysis/Layers.h"
#include "dialects/Zero/Schedule.h"

#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Planning/Repetition.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace zero {

bool runsAlways(Operation *op) {
  auto launch = dyn_cast<LaunchOp>(op);
  return isa<ActivationOpInterface>(op) && !(launch && launch.getCondition()) &&
         scheduleOf(op).isEveryMicroBatch();
}

SmallVector<Value> overwrittenBy(Operation *op, const SymbolTable &symbols) {
  SmallVector<Value> values;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op);
      collective && collective.reducesInPlace())
    values.push_back(throughViews(collective.getSource()));
  auto launch = dyn_cast<LaunchOp>(op);
  auto kernel = launch ? symbols.lookup<func::FuncOp>(launch.getKernel()) : func::FuncOp();
  for (unsigned index = 0; kernel && index < launch.getInputs().size(); ++index)
    if (kernel.getArgAttr(index, kInplaceAttr))
      values.push_back(throughViews(launch.getInputs()[index]));
  return values;
}

/// The operations that compute the gradients of `step`, without forward.
static llvm::DenseSet<Operation *> findBackwardOps(func::FuncOp step,
                                                   const llvm::DenseSet<Operation *> &forward) {
  llvm::DenseSet<Operation *> backward;
  SmallVector<Operation *> work;
  auto reach = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && !forward.contains(op) && !isIn(op, Segment::Prologue) && backward.insert(op).second)
      work.push_back(op);
  };
  for (auto gradient : step.getBody().getOps<GradientOp>())
    reach(gradient.getLocal());
  while (!work.empty())
    for (Value operand : work.pop_back_val()->getOperands())
      reach(operand);
  return backward;
}

Layers::Layers(ModuleOp module, func::FuncOp step)
    : step(step), forwardOps(findForwardOps(step)), backwardOps(findBackwardOps(step, forwardOps)) {
  SymbolTable symbols(module);
  findLaunches(symbols);
  findValues(symbols);
  if (!cutByRepetition(symbols))
    cutBetweenSingleValues();
}

int64_t Layers::layerOf(Operation *launch) const {
  auto it = layers.find(launch);
  return it == layers.end() ? -1 : it->second;
}

/// Finds the launches and collectives of forward up to the point where backward first reads a value
/// that forward computed from parameters. From there on, tiles of a loss are mixed with their
/// gradients.
void Layers::findLaunches(const SymbolTable &symbols) {
  for (Operation &op : step.getBody().front()) {
    auto isTrained = [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      if (auto read = dyn_cast_or_null<ReadOp>(producer))
        return symbols.lookup<ParameterOp>(read.getSymbol()) != nullptr;
      return trainedOps.contains(producer);
    };
    auto readsForward = [&](Value operand) {
      return positions.contains(throughViews(operand).getDefiningOp()) && isTrained(operand);
    };
    if (backwardOps.contains(&op) && isa<LaunchOp>(op) &&
        llvm::any_of(op.getOperands(), readsForward))
      return;
    if (!forwardOps.contains(&op))
      continue;
    if (llvm::any_of(op.getOperands(), isTrained))
      trainedOps.insert(&op);
    if (runsAlways(&op)) {
      positions[&op] = launches.size();
      launches.push_back(cast<ActivationOpInterface>(op));
    }
  }
}

/// Adds who reads `value`, also through views of it.
void Layers::findReads(Value value, Made &made) const {
  for (Operation *user : value.getUsers()) {
    if (isView(user)) {
      findReads(user->getResult(0), made);
    } else if (auto it = positions.find(user); it != positions.end()) {
      made.lastRead = std::max(made.lastRead, it->second);
    } else if (forwardOps.contains(user)) {
      made.lastRead = launches.size();
    } else {
      made.value.isSaved = true;
      made.value.isPinned |= !backwardOps.contains(user);
    }
  }
}

void Layers::findValues(const SymbolTable &symbols) {
  llvm::DenseSet<Value> overwritten;
  for (Operation *op : launches)
    for (Value value : overwrittenBy(op, symbols))
      overwritten.insert(value);
  for (auto [position, op] : llvm::enumerate(launches))
    for (Value result : op->getResults()) {
      Made next;
      next.made = next.lastRead = position;
      next.isTrained = trainedOps.contains(op);
      next.value.value = result;
      next.value.bytes = tensorBytes(result.getType());
      next.value.isOverwritten = overwritten.contains(result);
      findReads(result, next);
      if (!result.use_empty())
        made.push_back(next);
    }
}

/// A number for each way to compute: launches of equal types and costs, or collectives.
static std::vector<uint64_t> classesOf(ArrayRef<ActivationOpInterface> launches,
                                       const SymbolTable &symbols) {
  llvm::DenseMap<std::tuple<Type, Attribute, Attribute>, uint64_t> numbers;
  std::vector<uint64_t> classes;
  for (Operation *op : launches) {
    auto launch = dyn_cast<LaunchOp>(op);
    auto kernel = launch ? symbols.lookup<func::FuncOp>(launch.getKernel()) : func::FuncOp();
    Type type = FunctionType::get(op->getContext(), op->getOperandTypes(), op->getResultTypes());
    Attribute name = launch ? Attribute() : op->getName().getIdentifier();
    auto key = std::make_tuple(type, kernel ? kernel->getAttr(kFlopsAttr) : name,
                               kernel ? kernel->getAttr(kBytesAttr) : Attribute());
    classes.push_back(numbers.try_emplace(key, numbers.size()).first->second);
  }
  return classes;
}

/// Adds `amount` to all cuts that a value computed at `made` and last read at `lastRead` crosses:
/// cut c is before launch c.
static void addCrossing(std::vector<int64_t> &changes, int64_t made, int64_t lastRead,
                        int64_t amount) {
  changes[made + 1] += amount;
  changes[lastRead + 1] -= amount;
}

/// Layers are periods of the repetition that saves the most, if it saves most of all.
bool Layers::cutByRepetition(const SymbolTable &symbols) {
  std::vector<int64_t> weights(launches.size(), 1);
  for (const Made &value : made)
    if (value.value.isSaved && !value.value.isPinned)
      weights[value.made] += value.value.bytes;
  planning::Repetition found = planning::findRepetition(classesOf(launches, symbols), weights);
  auto weigh = [&](int64_t begin, int64_t end) {
    return std::accumulate(weights.begin() + begin, weights.begin() + end, int64_t(0));
  };
  if (found.period == 0 || 2 * weigh(found.begin, found.end) < weigh(0, weights.size()))
    return false;
  // The bytes that pass from one launch to later ones. A layer cannot end between the definition
  // and the last read of a value that cannot be saved.
  std::vector<int64_t> crossing(launches.size() + 2);
  for (const Made &value : made)
    if (value.made >= found.begin)
      addCrossing(crossing, value.made, value.lastRead,
                  value.value.isOverwritten ? INT32_MAX : value.value.bytes);
  std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
  int64_t best = 0;
  double fewest = std::numeric_limits<double>::infinity();
  for (int64_t offset = 0; offset < found.period; ++offset) {
    int64_t count = (found.end - found.begin - offset) / found.period;
    double bytes = 0;
    for (int64_t i = 1; i <= count; ++i)
      bytes += crossing[found.begin + offset + i * found.period];
    if (count >= 2 && bytes / count < fewest) {
      fewest = bytes / count;
      best = offset;
    }
  }
  SmallVector<int64_t> begins;
  int64_t begin = found.begin + best;
  for (; begin + found.period <= found.end; begin += found.period)
    begins.push_back(begin);
  numRepeated = found.period;
  setLayers(begins, begin);
  return true;
}

/// Layers are between cuts that a single value computed from parameters crosses; each has something
/// to recompute.
void Layers::cutBetweenSingleValues() {
  const int64_t count = launches.size();
  std::vector<int64_t> numbers(count + 2), origins(count + 2), bytes(count + 2), saved(count + 1);
  for (const Made &value : made) {
    if (!value.isTrained)
      continue;
    int64_t kept = value.value.isSaved && !value.value.isPinned ? value.value.bytes : 0;
    saved[value.made + 1] += kept;
    // Twice where it cannot be kept: no cut.
    addCrossing(numbers, value.made, value.lastRead, value.value.isOverwritten ? 2 : 1);
    addCrossing(origins, value.made, value.lastRead, value.made);
    addCrossing(bytes, value.made, value.lastRead, kept);
  }
  for (std::vector<int64_t> *sums : {&numbers, &origins, &bytes, &saved})
    std::partial_sum(sums->begin(), sums->end(), sums->begin());
  SmallVector<int64_t> begins;
  int64_t begin = 0;
  for (int64_t cut = 1; cut <= count; ++cut) {
    int64_t crossing = origins[cut] >= begin ? bytes[cut] : 0;
    if (numbers[cut] != 1 || saved[cut] - saved[begin] <= crossing)
      continue;
    begins.push_back(begin);
    begin = cut;
  }
  setLayers(begins, begin);
}

void Layers::setLayers(ArrayRef<int64_t> begins, int64_t end) {
  numLayers = begins.size();
  std::vector<int64_t> layerAt(launches.size() + 1, numLayers);
  for (auto [layer, begin] : llvm::enumerate(begins)) {
    int64_t next = layer + 1 < begins.size() ? begins[layer + 1] : end;
    for (int64_t position = begin; position < next; ++position) {
      layers[launches[position]] = layer;
      layerAt[position] = layer;
    }
  }
  for (const Made &value : made) {
    if (!layers.contains(launches[value.made]))
      continue;
    allValues.push_back(value.value);
    allValues.back().layer = layerAt[value.made];
    allValues.back().lastLayer = layerAt[value.lastRead];
  }
}

} // namespace zero
