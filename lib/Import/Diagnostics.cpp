//===- Diagnostics.cpp - messages with names of models --------------------===//

#include "zero/Import/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

/// Whether a terminal takes the character at `at` as a command: C0, DEL, and C1 in UTF-8.
static bool isControl(StringRef text, size_t at) {
  const auto byte = [&](size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u;
  };
  const unsigned c = byte(at);
  return c < 0x20 || c == 0x7f || (c == 0xc2 && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0);
}

static bool isKept(StringRef text, size_t at, Kept kept) {
  const char c = text[at];
  return (kept == Kept::Lines && (c == '\n' || c == '\t')) ||
         (kept == Kept::IndentedLines && text.substr(at).starts_with("\n  "));
}

std::string printable(StringRef text, Kept kept) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (!isControl(text, at) || isKept(text, at, kept))
      result += c;
    else
      result += '\\' + llvm::utohexstr(static_cast<unsigned char>(c), /*LowerCase=*/false, 2);
  }
  return result;
}

/// A note of MLIR's may print a whole op.
static bool printsOp(StringRef text) { return text.starts_with("see current operation"); }

static void copyText(Diagnostic &from, Diagnostic &to) {
  const std::string text = from.str();
  to << printable(text, printsOp(text) ? Kept::Lines : Kept::IndentedLines);
}

DiagnosticPrinter::DiagnosticPrinter(llvm::SourceMgr &sources, MLIRContext *context)
    : SourceMgrDiagnosticHandler(sources, context) {
  setHandler([this](Diagnostic &given) {
    Diagnostic shown(given.getLocation(), given.getSeverity());
    copyText(given, shown);
    for (Diagnostic &note : given.getNotes())
      copyText(note, shown.attachNote(note.getLocation()));
    emitDiagnostic(shown);
  });
}

void PrintableStream::write_impl(const char *text, size_t size) {
  to << printable({text, size}, Kept::Lines);
}

} // namespace zero
