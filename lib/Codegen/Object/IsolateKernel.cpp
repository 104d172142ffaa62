//===- IsolateKernel.cpp - move one kernel into its own module ------------===//

#include "IsolateKernel.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace zero {

static void eraseDead(func::FuncOp kernel) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Whether only loads and stores use `buffer`.
static bool isPlain(Value buffer) {
  return llvm::all_of(buffer.getUsers(), llvm::IsaPred<memref::LoadOp, memref::StoreOp>);
}

/// Gives `argument` the shape in which the kernel accesses it, if there is just one.
static void useView(BlockArgument argument) {
  if (!argument.hasOneUse())
    return;
  auto view = dyn_cast<memref::CollapseShapeOp>(*argument.user_begin());
  if (!view || !view.getType().getLayout().isIdentity())
    return;
  argument.setType(view.getType());
  view.replaceAllUsesWith(argument);
  view.erase();
}

/// Removes from `kernel` what its code does not depend on: shapes in which it does not
/// access its buffers, their outermost extent, and the number of its iterations, of which each call
/// gets a range. Kernels that differ in nothing else have one text.
static void generalize(func::FuncOp kernel) {
  eraseDead(kernel);
  for (BlockArgument argument : kernel.getArguments()) {
    useView(argument);
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getRank() == 0 || !type.getLayout().isIdentity() || !isPlain(argument))
      continue;
    SmallVector<int64_t> shape(type.getShape());
    shape.front() = ShapedType::kDynamic;
    argument.setType(MemRefType::Builder(type).setShape(shape));
  }
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), kernel.getBody().getArgumentTypes(),
                                           kernel.getResultTypes()));
  if (kernel->hasAttr(kExtentAttr))
    kernel->setAttr(kExtentAttr, Builder(kernel.getContext()).getI64IntegerAttr(1));
}

OwningOpRef<ModuleOp> isolateKernel(func::FuncOp kernel, SymbolTable &source) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto clone = cast<func::FuncOp>(builder.clone(*kernel));
  clone.setName("kernel");
  for (StringRef name : {kFlopsAttr, kBytesAttr, kWorkspaceAttr, kHostKernelAttr})
    clone->removeAttr(name);
  generalize(clone);
  llvm::StringMap<std::string> constants;
  clone.walk([&](memref::GetGlobalOp get) {
    auto [it, isNew] = constants.try_emplace(get.getName(), "constant");
    if (isNew) {
      it->second += std::to_string(constants.size());
      auto global = cast<memref::GlobalOp>(builder.clone(*source.lookup(get.getName())));
      global.setName(it->second);
    }
    get.setName(it->second);
  });
  return module;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().elideLargeElementsAttrs(INT64_MAX).useLocalScope());
  return text;
}

std::string symbolOf(StringRef text) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "k" + llvm::toHex(ArrayRef(digest).take_front(16), /*LowerCase=*/true);
}

} // namespace zero
