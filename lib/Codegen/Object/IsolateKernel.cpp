//===- IsolateKernel.cpp - move one kernel into its own module ------------===//

#include "IsolateKernel.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace zero {

OwningOpRef<ModuleOp> isolateKernel(func::FuncOp kernel, SymbolTable &source) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto clone = cast<func::FuncOp>(builder.clone(*kernel));
  clone.setName("kernel");
  for (StringRef name : {kFlopsAttr, kBytesAttr, kWorkspaceAttr})
    clone->removeAttr(name);
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
