//===- ListFlags.cpp - flags as JSON --------------------------------------===//

#include "ListFlags.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace zero {

OptionDescription describeFlag(StringRef name, StringRef value, StringRef help) {
  // In the help text counts are N, and real numbers X.
  auto kind = StringSwitch<ValueKind>(value)
                  .Case("", ValueKind::Switch)
                  .Case("N", ValueKind::Integer)
                  .Case("X", ValueKind::Number)
                  .Default(ValueKind::Text);
  return {name, kind, value.contains(",..."), value, help};
}

static StringRef kindName(ValueKind kind) {
  switch (kind) {
  case ValueKind::Switch:
    return "switch";
  case ValueKind::Integer:
    return "integer";
  case ValueKind::Number:
    return "number";
  case ValueKind::Bytes:
    return "bytes";
  case ValueKind::Word:
    return "word";
  case ValueKind::Text:
    return "text";
  }
  llvm_unreachable("a kind without a name");
}

static void listFlag(json::OStream &json, const OptionDescription &flag, bool isOfPhase) {
  json.object([&] {
    json.attribute("flag", flag.name);
    json.attribute("kind", kindName(flag.kind));
    json.attribute("list", flag.isList);
    json.attribute("value", flag.value);
    json.attribute("of", isOfPhase ? "phases" : "files and model");
    json.attribute("meaning", flag.help);
  });
}

void listFlags(raw_ostream &os, ArrayRef<OptionDescription> own, const PhaseOptions &phases) {
  json::OStream json(os, 2);
  json.array([&] {
    for (const OptionDescription &flag : own)
      listFlag(json, flag, /*isOfPhase=*/false);
    for (const OptionDescription &flag : phases.describe())
      listFlag(json, flag, /*isOfPhase=*/true);
  });
  os << "\n";
}

} // namespace zero
