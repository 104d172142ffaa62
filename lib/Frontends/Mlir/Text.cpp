//===- Text.cpp - parse MLIR that other tools wrote -----------------------===//

#include "Text.h"

#include "dialects/Zero/Findings.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/SourceMgr.h"

#include <csignal>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// Blobs of i1
//===----------------------------------------------------------------------===//

/// The number of elements of "tensor<4x8xi1>" at the start of `text`, if that is what it is.
static std::optional<uint64_t> elementsOfBools(StringRef text) {
  if (!text.consume_front("tensor<"))
    return std::nullopt;
  uint64_t elements = 1;
  for (uint64_t dim = 0; !text.consume_front("i1>"); elements *= dim)
    if (text.consumeInteger(10, dim) || !text.consume_front("x") || dim > UINT32_MAX ||
        elements > UINT32_MAX)
      return std::nullopt;
  return elements;
}

/// `digits`, two for each element, as bits: the form of this version of MLIR. Nothing if a byte is
/// neither 0 nor 1.
static std::optional<std::string> packBools(StringRef digits) {
  std::string bytes((digits.size() / 2 + 7) / 8, '\0');
  for (size_t i = 0; i < digits.size() / 2; ++i) {
    StringRef byte = digits.substr(2 * i, 2);
    if (byte != "00" && byte != "01")
      return std::nullopt;
    if (byte == "01")
      bytes[i / 8] |= char(1 << (i % 8));
  }
  return llvm::toHex(bytes);
}

/// `text` with blobs of i1 that have a byte for each element, as newer versions of MLIR write them,
/// packed into bits. The two are told apart by their size.
static std::string packBlobsOfBools(StringRef text) {
  static constexpr StringLiteral kStart = "dense<\"0x", kEnd = "\"> : ";
  std::string result;
  size_t done = 0;
  for (size_t start = text.find(kStart); start != StringRef::npos;
       start = text.find(kStart, done)) {
    StringRef digits = text.drop_front(start + kStart.size()).take_while(llvm::isHexDigit);
    const size_t end = start + kStart.size() + digits.size();
    std::optional<uint64_t> elements;
    if (text.drop_front(end).starts_with(kEnd))
      elements = elementsOfBools(text.drop_front(end + kEnd.size()));
    std::optional<std::string> packed;
    if (elements && *elements > 1 && digits.size() == 2 * *elements)
      packed = packBools(digits);
    result += text.slice(done, end - digits.size());
    result += packed ? StringRef(*packed) : digits;
    done = end;
  }
  return result + text.drop_front(done).str();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// StableHLO's portable artifact: bytecode whose producer is StableHLO.
static bool isPortableArtifact(StringRef head) {
  return head.starts_with(kBytecodeMagic) && head.take_front(64).contains("StableHLO_v");
}

static bool usesStableHlo(StringRef text) {
  return text.contains("stablehlo.") || text.contains("mhlo.");
}

static InFlightDiagnostic failForm(Location loc, StringRef got) {
  InFlightDiagnostic error = emitError(loc) << "expected StableHLO in generic form, got " << got;
  error.attachNote() << "print it with jax.jit(f).lower(...).compiler_ir().operation"
                        ".get_asm(print_generic_op_form=True), or "
                        "stablehlo-opt --mlir-print-op-generic";
  return error;
}

/// One error that names each op that no dialect here has. Those of StableHLO's dialects are errors
/// of their conversion, which knows which are left.
static LogicalResult checkRegistered(ModuleOp module) {
  llvm::MapVector<StringRef, unsigned> unknown;
  std::vector<Finding> findings;
  module.walk([&](Operation *op) {
    if (op->isRegistered() || (op->getDialect() && op->getDialect()->allowsUnknownOperations()))
      return;
    StringRef name = op->getName().getStringRef();
    if (unknown[name]++ == 0)
      findings.push_back({name.str(), op->getLoc()});
  });
  if (unknown.empty())
    return success();
  InFlightDiagnostic error = module.emitError()
                             << unknown.size() << " ops are of dialects that are not supported";
  attachFindings(error, {"lower the program to linalg on tensors, or to StableHLO"}, findings,
                 /*verbose=*/false);
  return error;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Whether MLIR reads the bytecode of `sources` without a crash, tried in a child process: of a
/// damaged file its reader writes out of bounds, after which no process can go on.
static bool survivesReading(llvm::SourceMgr &sources, MLIRContext &context) {
  constexpr unsigned kSeconds = 60;
  const pid_t child = fork();
  if (child == 0) {
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
      (void)std::signal(signal, SIG_DFL);
    alarm(kSeconds);
    ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
    context.allowUnregisteredDialects();
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
}

/// Parses `sources` and collects the errors. MLIR's parsers of some ops read a null pointer after
/// an error: then there is no module.
static OwningOpRef<ModuleOp> parseSafely(llvm::SourceMgr &sources, MLIRContext &context,
                                         std::vector<Diagnostic> &errors) {
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    errors.push_back(std::move(diagnostic));
    return success();
  });
  const bool before = context.allowsUnregisteredDialects();
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext guard;
  const bool isDone =
      guard.RunSafely([&] { module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context)); });
  llvm::CrashRecoveryContext::Disable();
  context.allowUnregisteredDialects(before);
  return isDone ? std::move(module) : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> parseProgram(StringRef path, MLIRContext &context) {
  Location loc = FileLineColLoc::get(&context, path, 0, 0);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer) {
    emitError(loc) << message;
    return nullptr;
  }
  StringRef text = buffer->getBuffer();
  if (isPortableArtifact(text)) {
    failForm(loc, "its versioned bytecode (VHLO)");
    return nullptr;
  }
  if (!text.starts_with(kBytecodeMagic) && text.contains("xi1>") && text.contains("dense<\"0x"))
    buffer = llvm::MemoryBuffer::getMemBufferCopy(packBlobsOfBools(text), path);
  text = buffer->getBuffer();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  // The first error tells the form of the text; the parser's own would be about syntax.
  std::vector<Diagnostic> errors;
  OwningOpRef<ModuleOp> module;
  if (!text.starts_with(kBytecodeMagic) || survivesReading(sources, context))
    module = parseSafely(sources, context, errors);
  if (!module && usesStableHlo(text) && !errors.empty() &&
      llvm::StringRef(errors.front().str()).contains("custom op")) {
    failForm(errors.front().getLocation(), "its pretty form");
    return nullptr;
  }
  if (!module && errors.empty())
    emitError(loc) << "expected a module of MLIR " << LLVM_VERSION_STRING
                   << " as text or bytecode, got a damaged file";
  for (Diagnostic &error : errors)
    context.getDiagEngine().emit(std::move(error));
  if (!module || failed(checkRegistered(*module)))
    return nullptr;
  return module;
}

} // namespace zero
