//===- ShareBodies.cpp - one body for kernels that differ in numbers ------===//
//
// A network has the same movement of data in many shapes. LLVM takes as long for each of these
// kernels as for any other, so kernels that differ only in numbers are compiled once, with those
// numbers that differ as parameters. The entry point of a kernel passes its own.
//
//===----------------------------------------------------------------------===//

#include "ShareBodies.h"

#include "LowerToLLVM.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace zero {

/// Whether LLVM may choose how `op` rounds.
static bool isFast(Operation *op) {
  auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
  auto flags = arithmetic ? arithmetic.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return flags && flags.getValue() != arith::FastMathFlags::none;
}

/// Makes the constant bounds of outermost loops parameters of `kernel`, behind the range of its
/// iterations. Returns what they are.
static SmallVector<Attribute> takeBounds(func::FuncOp kernel) {
  if (!kernel->hasAttr(kExtentAttr))
    addRange(kernel);
  Builder builder(kernel.getContext());
  SmallVector<Attribute> bounds;
  for (auto loop : kernel.getBody().getOps<scf::ForOp>()) {
    Value bound = loop.getUpperBound();
    std::optional<int64_t> number = getConstantIntValue(bound);
    if (!number)
      continue;
    bounds.push_back(builder.getI64IntegerAttr(*number));
    (void)kernel.insertArgument(kernel.getNumArguments(), builder.getIndexType(), {},
                                kernel.getLoc());
    loop.getUpperBoundMutable().assign(kernel.getArguments().back());
    if (bound.use_empty())
      bound.getDefiningOp()->erase();
  }
  return bounds;
}

std::string formOf(IsolatedKernel &isolated) {
  auto kernel = isolated.module->lookupSymbol<func::FuncOp>("kernel");
  std::string form;
  kernel.walk([&](Operation *op) {
    // Equal numbers are one op.
    if (!op->hasTrait<OpTrait::ConstantLike>())
      form += (op->getName().getStringRef() + " ").str();
    isolated.isFast |= isFast(op);
  });
  if (!isolated.isFast)
    return form;
  isolated.bounds = takeBounds(kernel);
  return textOf(*isolated.module);
}

namespace {
/// A kernel whose numbers, and addresses of constants, are parameters of its body.
struct Variant {
  StringRef symbol;
  LLVM::LLVMFuncOp body;
  SmallVector<Attribute> numbers; ///< what the kernel passes for them
  bool isFast;                    ///< the body has parameters for all of them
};
} // namespace

/// Whether `constant` may be a parameter: 0 and 1 decide which code there is.
static bool isNumber(LLVM::ConstantOp constant) {
  if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
    return !value.getValue().isZero() && !abs(value.getValue()).isExactlyValue(1.0);
  auto value = dyn_cast<IntegerAttr>(constant.getValue());
  return value && constant.getType().isInteger(64) && value.getInt() > 1;
}

/// Whether `op` divides. By a constant, LLVM multiplies.
static bool isDivision(Operation *op) {
  return isa<LLVM::UDivOp, LLVM::URemOp, LLVM::SDivOp, LLVM::SRemOp, LLVM::FDivOp>(op);
}

/// The number that `operand` always is, or the constant to which it points, if the code would be as
/// good with a parameter.
static Attribute numberOf(OpOperand &operand) {
  Operation *source = operand.get().getDefiningOp();
  if (auto address = dyn_cast_or_null<LLVM::AddressOfOp>(source))
    return address.getGlobalNameAttr();
  auto constant = dyn_cast_or_null<LLVM::ConstantOp>(source);
  if (!constant || !isNumber(constant) || isDivision(operand.getOwner()))
    return {};
  return constant.getValue();
}

static Value materialize(OpBuilder &builder, Location loc, Type type, Attribute number) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(number))
    return LLVM::AddressOfOp::create(builder, loc, type, symbol);
  return LLVM::ConstantOp::create(builder, loc, type, number);
}

/// Removes steps to the first element of an array, whose type has the extents of the array.
static void removeEmptySteps(LLVM::LLVMFuncOp body) {
  body.walk([](LLVM::GEPOp op) {
    if (!op.getDynamicIndices().empty() ||
        llvm::any_of(op.getRawConstantIndices(), [](int32_t index) { return index != 0; }))
      return;
    op.replaceAllUsesWith(op.getBase());
    op.erase();
  });
}

static void eraseDeadConstants(LLVM::LLVMFuncOp body) {
  body.walk([](Operation *op) {
    if (isa<LLVM::ConstantOp, LLVM::AddressOfOp>(op) && op->use_empty())
      op->erase();
  });
}

/// The `kernel`. Its block gets the parameters; its type does not have them yet.
static Variant takeNumbers(IsolatedKernel &kernel) {
  auto body = kernel.module->lookupSymbol<LLVM::LLVMFuncOp>("kernel");
  Variant variant{kernel.symbol, body, kernel.bounds, kernel.isFast};
  removeEmptySteps(body);
  if (kernel.isFast)
    return variant;
  SmallVector<OpOperand *> places;
  SmallVector<Type> types;
  body.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (Attribute number = numberOf(operand)) {
        places.push_back(&operand);
        types.push_back(operand.get().getType());
        variant.numbers.push_back(number);
      }
  });
  auto parameters =
      body.getBody().addArguments(types, SmallVector<Location>(types.size(), body.getLoc()));
  for (auto [place, parameter] : llvm::zip(places, parameters))
    place->set(parameter);
  eraseDeadConstants(body);
  return variant;
}

static bool haveSameBody(LLVM::LLVMFuncOp a, LLVM::LLVMFuncOp b) {
  return a.getFunctionType() == b.getFunctionType() && a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Gives `body` the parameters that its block has.
static void updateType(LLVM::LLVMFuncOp body) {
  MLIRContext *context = body.getContext();
  SmallVector<Type> types(body.getBody().getArgumentTypes());
  SmallVector<DictionaryAttr> attributes;
  body.getAllArgAttrs(attributes);
  attributes.resize(types.size(), DictionaryAttr::get(context));
  body.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  body.setAllArgAttrs(attributes);
}

static bool isLess(Attribute a, Attribute b) {
  return cast<IntegerAttr>(a).getInt() < cast<IntegerAttr>(b).getInt();
}

/// What `variants` pass for `parameter`, which is number `index`.
static SmallVector<Attribute> passedFor(BlockArgument parameter, ArrayRef<Variant> variants,
                                        unsigned index) {
  SmallVector<Attribute> passed;
  for (const Variant &variant : variants)
    passed.push_back(variant.numbers[index]);
  // Memory on the stack has the size that suffices for all, so that addresses are constants.
  if (llvm::any_of(parameter.getUsers(), llvm::IsaPred<LLVM::AllocaOp>))
    passed.assign(variants.size(), *llvm::max_element(passed, isLess));
  return passed;
}

/// Gives the body of `variants`, which is that of the first, the numbers on which all agree, and
/// one parameter for those that are equal in each.
static void giveNumbers(MutableArrayRef<Variant> variants) {
  LLVM::LLVMFuncOp body = variants.front().body;
  Block &block = body.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  const unsigned first = block.getNumArguments() - variants.front().numbers.size();
  llvm::BitVector erased(block.getNumArguments());
  DenseMap<Attribute, Value> known;
  for (BlockArgument parameter : block.getArguments().drop_front(first)) {
    SmallVector<Attribute> passed =
        passedFor(parameter, variants, parameter.getArgNumber() - first);
    Value &value = known[builder.getArrayAttr(passed)];
    if (!value && !llvm::all_equal(passed)) {
      value = parameter;
      continue;
    }
    if (!value)
      value = materialize(builder, body.getLoc(), parameter.getType(), passed.front());
    parameter.replaceAllUsesWith(value);
    erased.set(parameter.getArgNumber());
  }
  block.eraseArguments(erased);
  updateType(body);
  for (Variant &variant : variants) {
    unsigned index = first;
    llvm::erase_if(variant.numbers, [&](Attribute) { return erased.test(index++); });
  }
}

/// Adds the exported function that takes an array of pointers. The body keeps its noalias
/// attributes because it is not inlined.
static void addEntry(OpBuilder &builder, LLVM::LLVMFuncOp body, const Variant &variant) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = body.getLoc();
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), index = builder.getI64Type();
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, variant.symbol,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, index, index}));
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  SmallVector<Value> arguments;
  const int32_t buffers = body.getNumArguments() - variant.numbers.size() - 2;
  for (int32_t buffer = 0; buffer < buffers; ++buffer) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry.getArgument(0),
                                     LLVM::GEPArg(buffer));
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  arguments.append({entry.getArgument(1), entry.getArgument(2)});
  for (Attribute number : variant.numbers) {
    Type type = body.getArgument(arguments.size()).getType();
    arguments.push_back(materialize(builder, loc, type, number));
  }
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// Adds `variants` and their body.
static void addVariants(OpBuilder &builder, MutableArrayRef<Variant> variants) {
  if (!variants.front().isFast)
    giveNumbers(variants);
  LLVM::LLVMFuncOp body = variants.front().body;
  body->remove();
  builder.insert(body);
  body.setName((variants.front().symbol + ".body").str());
  body.setLinkage(LLVM::Linkage::Internal);
  body.setNoInline(true);
  for (const Variant &variant : variants)
    addEntry(builder, body, variant);
}

/// Moves declarations and constants from `source` to `target`, which gets equal ones once. `names`
/// has the name of each constant there.
static void moveSymbols(ModuleOp source, ModuleOp target, DenseMap<Attribute, StringAttr> &names) {
  SymbolTable symbols(source);
  Builder builder(source.getContext());
  for (Operation &op : llvm::make_early_inc_range(*source.getBody())) {
    bool isKnown = target.lookupSymbol(SymbolTable::getSymbolName(&op));
    if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
      NamedAttrList content(global->getAttrDictionary());
      content.erase(global.getSymNameAttrName());
      StringAttr &name = names[content.getDictionary(source.getContext())];
      isKnown = bool(name);
      if (!isKnown)
        name = builder.getStringAttr("shared" + Twine(names.size()));
      (void)symbols.rename(global, name);
    } else if (!cast<LLVM::LLVMFuncOp>(op).isExternal()) {
      continue;
    }
    if (!isKnown)
      op.moveBefore(target.getBody(), target.getBody()->end());
  }
}

OwningOpRef<ModuleOp> shareBodies(MutableArrayRef<IsolatedKernel> kernels) {
  MLIRContext *context = kernels.front().module->getContext();
  OwningOpRef<ModuleOp> shared = ModuleOp::create(UnknownLoc::get(context));
  DenseMap<Attribute, StringAttr> names;
  SmallVector<SmallVector<Variant>> groups;
  for (IsolatedKernel &kernel : kernels) {
    moveSymbols(*kernel.module, *shared, names);
    Variant variant = takeNumbers(kernel);
    auto *group = llvm::find_if(groups, [&](const SmallVector<Variant> &variants) {
      return haveSameBody(variants.front().body, variant.body);
    });
    if (group == groups.end())
      group = &groups.emplace_back();
    group->push_back(std::move(variant));
  }
  OpBuilder builder = OpBuilder::atBlockEnd(shared->getBody());
  for (SmallVector<Variant> &variants : groups)
    addVariants(builder, variants);
  return shared;
}

} // namespace zero
