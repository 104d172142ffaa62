//===- Findings.cpp - errors that list many items -------------------------===//

#include "dialects/Zero/Findings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace zero {

void attachFindings(InFlightDiagnostic &diagnostic, ArrayRef<StringRef> remedies,
                    ArrayRef<Finding> findings, bool verbose) {
  for (StringRef remedy : remedies)
    diagnostic.attachNote() << remedy;
  // A single further finding takes no more lines than a line that counts it.
  const bool all = verbose || findings.size() <= kFindingsShown + 1;
  const size_t shown = all ? findings.size() : kFindingsShown;
  for (const Finding &finding : findings.take_front(shown))
    diagnostic.attachNote(finding.where) << finding.text;
  if (shown < findings.size())
    diagnostic.attachNote() << "and " << findings.size() - shown << " more; -v lists all";
}

std::string listNames(ArrayRef<StringRef> names, bool verbose) {
  const size_t shown = verbose ? names.size() : std::min(names.size(), kFindingsShown);
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(names.take_front(shown), os,
                        [&](StringRef name) { os << "'" << name << "'"; });
  if (shown < names.size())
    os << " and " << names.size() - shown << " more";
  return text;
}

} // namespace zero
