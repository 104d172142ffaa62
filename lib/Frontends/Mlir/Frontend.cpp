//===- Frontend.cpp - MLIR, as text or bytecode ---------------------------===//

#include "zero/Frontends/Frontend.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

/// `text` behind white space and comments.
static StringRef skipComments(StringRef text) {
  for (text = text.ltrim(); text.starts_with("//"); text = text.ltrim())
    text = text.drop_until([](char c) { return c == '\n'; });
  return text;
}

/// Bytecode, or text that begins with an operation, an alias or resources.
static bool beginsMlir(StringRef head) {
  if (head.starts_with("ML\xefR"))
    return true;
  head = skipComments(head);
  if (head.empty() || head.contains('\0'))
    return false;
  if (head.starts_with("{-#") || head.starts_with("\"") || head.starts_with("%") ||
      head.starts_with("#") || head.starts_with("!"))
    return true;
  StringRef name =
      head.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
  return name == "module" || (name.contains('.') && !name.starts_with("."));
}

static OwningOpRef<ModuleOp> readMlir(const FrontendInput &input, MLIRContext &context) {
  return parseSourceFile<ModuleOp>(input.path, &context);
}

void registerMlirFrontend() {
  Frontend mlir;
  mlir.name = "mlir";
  mlir.suffix = ".mlir";
  mlir.summary = "MLIR, as text or bytecode: a step, or a program after any phase";
  mlir.promises = "nothing else: the phases check the contents of the file";
  mlir.recognises = beginsMlir;
  mlir.read = readMlir;
  registerFrontend(std::move(mlir));
}

} // namespace zero
