//===- MemoryMap.cpp - tensors of the arena over the step -----------------===//

#include "zero/Report/MemoryMap.h"

#include "ModuleScopes.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Planning/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace zero {

StringRef stepPartName(StepPart part) {
  static constexpr std::array<StringLiteral, 4> names = {"prologue", "forward", "backward",
                                                         "epilogue"};
  return names[unsigned(part)];
}

/// Whether nothing happens at `op`: it gives bytes that are there another name.
static bool isView(Operation *op, const llvm::DenseSet<Operation *> &copies) {
  if (isa<WriteOp>(op))
    return !copies.contains(op);
  return isView(op) || isa<ReadOp, arith::ConstantOp>(op);
}

/// The name of `op` for users. A bucket has the name of its collective.
static StringRef nameOf(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
    return name.getValue();
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getSymbol();
  if (isa<BucketOp>(op))
    for (Operation *user : op->getUsers())
      if (auto name = user->getAttrOfType<StringAttr>(kNameAttr))
        return name.getValue();
  return "";
}

/// The kind of `op`. For a launch, the kernel without its number: "gemm" of @k4_gemm.
static std::string kindOf(Operation *op) {
  if (auto transfer = dyn_cast<TransferOp>(op))
    return (stringifyTier(transfer.getFrom()) + "_to_" + stringifyTier(transfer.getTier())).str();
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return op->getName().stripDialect().str();
  StringRef kernel = launch.getKernel(), rest = kernel;
  if (rest.consume_front("k") && rest.take_while(llvm::isDigit).size() > 0 &&
      (rest = rest.drop_while(llvm::isDigit)).consume_front("_"))
    return rest.str();
  return kernel.str();
}

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = cast<RankedTensorType>(type);
  for (int64_t size : tensor.getShape())
    os << size << "x";
  os << tensor.getElementType();
  return text;
}

namespace {

/// Fills a map in order: commands, tensors, sums.
class Mapper {
public:
  Mapper(ModuleOp module, const Storage &storage)
      : step(storage.getStep()), storage(storage), scopes(module) {}

  MemoryMap run() {
    mapCommands();
    for (auto [index, root] : llvm::enumerate(storage.roots()))
      if (root.bytes > 0)
        mapTensor(index, root);
    for (Tier tier : kTiers) {
      map.tiers[unsigned(tier)].tier = tier;
      sumLive(map.tiers[unsigned(tier)]);
    }
    return std::move(map);
  }

private:
  StepPart partOf(Operation *op) const;
  void mapCommands();
  void nameTensor(MappedTensor &tensor, const Root &root) const;
  void mapTensor(int64_t index, const Root &root);
  void sumLive(TierMap &memory) const;

  func::FuncOp step;
  const Storage &storage;
  ModuleScopes scopes;
  MemoryMap map;
  /// Of the last launch of the micro-batch; a loss may be summed over ranks behind backward.
  std::optional<StepPart> launched;
  /// For each position in the step, the last command at or before it.
  std::vector<int64_t> commandAt;
};

} // namespace

StepPart Mapper::partOf(Operation *op) const {
  if (isIn(op, Segment::Prologue))
    return StepPart::Prologue;
  if (isIn(op, Segment::Epilogue))
    return StepPart::Epilogue;
  // A check belongs to the part of its value, and a transfer to the part at its position. Without a
  // loss there is no backward.
  if (isa<CheckOp, TransferOp, ReserveOp>(op) && launched)
    return *launched;
  const llvm::DenseSet<Operation *> &forward = storage.forwardOps();
  return forward.empty() || forward.contains(op) ? StepPart::Forward : StepPart::Backward;
}

/// The first op always counts, because initial values are live at it.
void Mapper::mapCommands() {
  llvm::DenseSet<Operation *> copies;
  for (const Move &move : storage.moves())
    copies.insert(move.before);
  StringRef scope;
  for (Operation &op : step.getBody().front()) {
    if (map.commands.empty() || !isView(&op, copies)) {
      StepPart part = partOf(&op);
      if (isa<LaunchOp>(op) && isIn(&op, Segment::MicroBatch))
        launched = part;
      if (part == StepPart::Epilogue)
        scope = "";
      const std::optional<StringRef> own = scopes.ofCommand(&op);
      map.commands.push_back({nameOf(&op).str(), kindOf(&op), own.value_or(scope).str(), part});
      // Gathers and transfers begin before their module is computed, and updates may end later.
      if (auto launch = dyn_cast<LaunchOp>(op); own && launch && !launch.getUpdates())
        scope = *own;
    }
    commandAt.push_back(map.commands.size() - 1);
  }
}

void Mapper::nameTensor(MappedTensor &tensor, const Root &root) const {
  if (root.symbol) {
    tensor.name = SymbolTable::getSymbolName(root.symbol).str();
    tensor.type = typeText(root.symbol->getAttrOfType<TypeAttr>("type").getValue());
    tensor.scope = scopes.ofSymbol(tensor.name).str();
    tensor.kind = "state";
    return;
  }
  tensor.scope = map.commands[tensor.begin].scope;
  if (root.workspace) {
    tensor.name = nameOf(root.workspace).str();
    tensor.kind = "scratch";
    return;
  }
  tensor.type = typeText(root.value.getType());
  if (auto argument = dyn_cast<BlockArgument>(root.value)) {
    tensor.name = argumentBinding(step, argument.getArgNumber()).str();
    tensor.kind = "input";
    return;
  }
  Operation *producer = root.value.getDefiningOp();
  unsigned number = cast<OpResult>(root.value).getResultNumber();
  tensor.name = nameOf(producer).str() + (number ? "#" + std::to_string(number) : "");
  tensor.kind = isa<arith::ConstantOp>(producer) ? "constant" : "value";
}

void Mapper::mapTensor(int64_t index, const Root &root) {
  MappedTensor tensor;
  tensor.usage = root.usage;
  tensor.bytes = root.bytes;
  tensor.offset = rootOffset(step, storage, index);
  tensor.begin = commandAt[root.begin];
  tensor.end = commandAt[root.end];
  nameTensor(tensor, root);
  map.tiers[unsigned(root.tier)].tensors.push_back(std::move(tensor));
}

void Mapper::sumLive(TierMap &memory) const {
  memory.live.resize(map.commands.size());
  for (unsigned usage = 0; usage < kNumUsages; ++usage) {
    std::vector<planning::Lifetime> lifetimes;
    for (const MappedTensor &tensor : memory.tensors)
      if (tensor.usage == Usage(usage))
        lifetimes.push_back({tensor.begin, tensor.end, tensor.bytes});
    int64_t command = 0, live = 0, numCommands = map.commands.size();
    auto fillTo = [&](int64_t end) {
      for (; command < std::min(end, numCommands); ++command)
        memory.live[command][usage] = live;
    };
    for (auto [at, bytes] : planning::liveBytes(lifetimes, alignmentOf(memory.tier))) {
      fillTo(at);
      live = bytes;
    }
    fillTo(numCommands);
  }
  auto sum = [](const auto &bytes) { return std::accumulate(bytes.begin(), bytes.end(), 0LL); };
  auto most = llvm::max_element(memory.live, [&](auto &a, auto &b) { return sum(a) < sum(b); });
  memory.peak = most - memory.live.begin();
}

MemoryMap mapMemory(ModuleOp module, const Storage &storage) {
  return Mapper(module, storage).run();
}

} // namespace zero
