//===- flags.cpp - setters of flags, and the flags of zeroc ---------------===//

#include "flags.h"

#include "runtime/support/checked.h"
#include "zero/Planning/ByteSize.h"

using namespace zero::rt;

namespace zero::run {

Status parseCount(const std::string &text, uint64_t &count) {
  return parseInteger(text, count) ? Status() : expected("a whole number", text);
}

Status parseNumber(const std::string &text, double &number) {
  return parseReal(text, number) ? Status() : expected("a number", text);
}

Setter toCount(std::optional<uint64_t> &field) {
  return [&field](const std::string &text) { return parseCount(text, field.emplace()); };
}

Setter toByteSize(uint64_t &bytes) {
  return [&bytes](const std::string &text) {
    bytes = planning::parseByteSize(text).value_or(0);
    return bytes ? Status() : expected(std::string(planning::kByteSizeForm), text);
  };
}

Setter toInt(int &field, uint64_t least, uint64_t most) {
  return [&field, least, most](const std::string &text) {
    uint64_t count;
    ZERO_RT_TRY(parseCount(text, count));
    if (count < least || count > most)
      return expected(least ? format("%d to %d", int(least), int(most))
                            : format("at most %d", int(most)),
                      text);
    field = static_cast<int>(count);
    return Status();
  };
}

/// "name=value" of each flag of zeroc, or "name" of a switch.
static constexpr const char *kCompilerFlags[] = {
#include "compiler_flags.inc"
};

Flags compilerFlags(Options &options) {
  Flags flags;
  for (const std::string text : kCompilerFlags) {
    const size_t end = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, end),
                      value = text.substr(std::min(end + 1, text.size()));
    const std::string word = (name.size() == 1 ? "-" : "--") + name;
    auto pass = [&options, word, isSwitch = value.empty()](const std::string &given) {
      options.compilerFlags.push_back(isSwitch ? word : word + "=" + given);
      return Status();
    };
    // zeroc says which of them may be given twice.
    flags.push_back({"zeroc", name, value, "", pass, /*with=*/"", /*repeats=*/true});
  }
  return flags;
}

} // namespace zero::run
