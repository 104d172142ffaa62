//===- Shapes.cpp - programs for several shapes of the inputs -------------===//

#include "Shapes.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Transforms/Plan.h"
#include "zero/Transforms/StateHomes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// Values of --shape
//===----------------------------------------------------------------------===//

/// A list in braces, with the text before it.
struct Alternatives {
  StringRef before;
  SmallVector<StringRef> items;
};

std::string expandShapes(StringRef text, std::vector<std::string> &shapes) {
  SmallVector<Alternatives> lists;
  StringRef rest = text;
  for (size_t open = rest.find('{'); open != StringRef::npos; open = rest.find('{')) {
    const size_t close = rest.find('}', open);
    if (close == StringRef::npos)
      return ("expected '}' after '" + rest.substr(open) + "'").str();
    Alternatives &list = lists.emplace_back();
    list.before = rest.take_front(open);
    rest.slice(open + 1, close).split(list.items, ',');
    if (list.items.size() != lists.front().items.size())
      return ("expected lists in braces of equal lengths, whose n-th items belong together, got " +
              Twine(lists.front().items.size()) + " and " + Twine(list.items.size()))
          .str();
    rest = rest.drop_front(close + 1);
  }
  for (size_t n = 0; n < (lists.empty() ? 1 : lists.front().items.size()); ++n) {
    std::string shape;
    for (const Alternatives &list : lists)
      shape += (list.before + list.items[n].trim()).str();
    shape += rest;
    if (llvm::is_contained(shapes, shape))
      return "'" + shape + "' is given twice";
    shapes.push_back(std::move(shape));
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Elements of all inputs of the step.
static int64_t inputElements(ModuleOp module) {
  FailureOr<func::FuncOp> step = findStep(module);
  int64_t elements = 0;
  if (succeeded(step))
    for (Type type : step->getArgumentTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
        elements += tensor.getNumElements();
  return elements;
}

LogicalResult forShape(MLIRContext &context, StringRef shape, bool isOneOfMany,
                       function_ref<LogicalResult()> work) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &message) {
    if (isOneOfMany && message.getSeverity() == DiagnosticSeverity::Error)
      message.attachNote() << "in the program for --shape=" << shape;
    return failure(); // who prints it comes next
  });
  return work();
}

LogicalResult readShapes(const CompilerOptions &options, MLIRContext &context,
                         SmallVectorImpl<ShapeModule> &shapes) {
  std::vector<std::string> values = options.shapes;
  if (values.empty())
    values.emplace_back(); // of a model without symbols
  for (const std::string &value : values) {
    ShapeModule &shape = shapes.emplace_back(ShapeModule{value, nullptr});
    const auto read = [&] {
      shape.module = readModel(options, context, value);
      return success(bool(shape.module));
    };
    if (failed(forShape(context, value, values.size() > 1, read)))
      return failure();
  }
  llvm::stable_sort(shapes, [](const ShapeModule &one, const ShapeModule &other) {
    return inputElements(one.module.get()) > inputElements(other.module.get());
  });
  return success();
}

OwningOpRef<ModuleOp> readLargestModel(const CompilerOptions &options, MLIRContext &context,
                                       std::string &shape) {
  SmallVector<ShapeModule> shapes;
  if (failed(readShapes(options, context, shapes)))
    return nullptr;
  shape = shapes.front().shape;
  return std::move(shapes.front().module);
}

//===----------------------------------------------------------------------===//
// One state
//===----------------------------------------------------------------------===//

/// Verifies that `other` stores what `first` does, at the same places.
static LogicalResult verifySameState(ModuleOp first, ModuleOp other) {
  const auto isStored = llvm::IsaPred<BufferOp, ParameterOp, StateOp>;
  const auto nameOf = [](Operation *op) { return SymbolTable::getSymbolName(op).getValue(); };
  const auto fail = [&](Operation *op, const Twine &why) {
    return op->emitError() << "'" << nameOf(op) << "' " << why
                           << ": programs for several shapes have one state; compile an "
                              "executable for each shape";
  };
  const auto findMissing = [&](ModuleOp in, ModuleOp from) -> Operation * {
    for (Operation &op : *from.getBody())
      if (isStored(&op) && !SymbolTable::lookupSymbolIn(in, nameOf(&op)))
        return &op;
    return nullptr;
  };
  for (auto [in, from] : {std::pair(first, other), std::pair(other, first)})
    if (Operation *missing = findMissing(in, from))
      return fail(missing, "is stored for some shapes only");
  for (Operation &op : *first.getBody()) {
    if (!isStored(&op))
      continue;
    Operation *same = SymbolTable::lookupSymbolIn(other, nameOf(&op));
    if (op.getName() != same->getName() ||
        op.getPropertiesAsAttribute() != same->getPropertiesAsAttribute())
      return fail(&op, "has another type or size for one of the shapes");
    if (op.getAttr(kOffsetsAttr) != same->getAttr(kOffsetsAttr))
      return fail(&op, "is at another place for one of the shapes");
  }
  return success();
}

/// Lets `module` take over what was decided about the state of `first`, and the sizes of its
/// arenas.
static void shareState(ModuleOp first, ModuleOp module) {
  module->setAttr(kStateHomesAttr, stateHomesOf(first));
  module->setAttr(kFirstArenasAttr, first->getAttr(kCertificateAttr));
  if (PlanAttr plan = planOf(first))
    module->setAttr(kStatePlanAttr, plan);
  if (Attribute tiles = first->getAttr(kTilesAttr))
    module->setAttr(kTilesAttr, tiles);
}

/// Verifies that `other` has the outputs of `first`, by name and type.
static LogicalResult verifySameOutputs(ModuleOp first, ModuleOp other) {
  FailureOr<func::FuncOp> one = findStep(first), another = findStep(other);
  if (failed(one) || failed(another))
    return failure();
  if (one->getNumResults() != another->getNumResults())
    return other.emitError() << "the program has " << another->getNumResults()
                             << " outputs for one shape and " << one->getNumResults()
                             << " for another";
  for (unsigned i = 0; i < one->getNumResults(); ++i) {
    const Type type = one->getResultTypes()[i], own = another->getResultTypes()[i];
    const StringRef name = resultBinding(*one, i);
    if (type != own || name != resultBinding(*another, i))
      return other.emitError() << "output '" << name << "' is " << own << " for one shape and "
                               << type
                               << " for another: programs for several shapes have outputs "
                                  "of one shape";
  }
  return success();
}

LogicalResult runOtherShapes(ArrayRef<ShapeModule> shapes, const CompilerOptions &options,
                             const planning::Machine &machine, DecisionLog &decisions) {
  ModuleOp first = *shapes.front().module;
  const size_t known = decisions.getEntries().size();
  for (const ShapeModule &shape : shapes.drop_front()) {
    ModuleOp module = *shape.module;
    if (options.emitOnnx.empty()) // a step in ONNX operators is not placed
      shareState(first, module);
    const auto run = [&] {
      return success(succeeded(runPhases(module, options, options.phases, machine)) &&
                     succeeded(verifySameOutputs(first, module)) &&
                     succeeded(verifySameState(first, module)));
    };
    if (failed(forShape(*module.getContext(), shape.shape, true, run)))
      return failure();
  }
  decisions.truncate(known);
  return success();
}

} // namespace zero
