//===- Diagnostics.h - messages with names of models ------------*- C++ -*-===//
//
// Names come from models and lists. A terminal would obey the control characters in them, and a
// line break could look like a message of its own.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_IMPORT_DIAGNOSTICS_H
#define ZERO_IMPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace zero {

/// Which control characters stay as they are.
enum class Kept {
  None,
  IndentedLines, ///< line breaks before two spaces, as in lists: no message begins so
  Lines          ///< line breaks and tabs
};

/// `text` with its other control characters as "\1B".
std::string printable(llvm::StringRef text, Kept kept = Kept::None);

/// Prints diagnostics to stderr, their texts printable but for indented lines.
class DiagnosticPrinter : public mlir::SourceMgrDiagnosticHandler {
public:
  DiagnosticPrinter(llvm::SourceMgr &sources, mlir::MLIRContext *context);
};

/// Passes text on, printable but for line breaks and tabs.
class PrintableStream : public llvm::raw_ostream {
public:
  explicit PrintableStream(llvm::raw_ostream &to) : to(to) { SetUnbuffered(); }

private:
  void write_impl(const char *text, size_t size) override;
  uint64_t current_pos() const override { return to.tell(); }

  llvm::raw_ostream &to;
};

} // namespace zero

#endif // ZERO_IMPORT_DIAGNOSTICS_H
