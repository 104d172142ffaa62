//===- Text.cpp - pieces of MLIR text -------------------------------------===//

#include "Harness.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace text {

/// The element type of "tensor<4x8xf32>".
static std::string elementOf(llvm::StringRef type) {
  llvm::StringRef inner = type.drop_front(strlen("tensor<")).drop_back();
  return inner.contains('x') && inner.rfind('x') + 1 < inner.size()
             ? inner.substr(inner.rfind('x') + 1).str()
             : inner.str();
}

std::string fill(const std::string &name, const std::string &type, const std::string &value) {
  std::string element = elementOf(type);
  return "%" + name + "_c = arith.constant " + value + " : " + element + "\n%" + name +
         "_e = tensor.empty() : " + type + "\n%" + name + " = linalg.fill ins(%" + name +
         "_c : " + element + ") outs(%" + name + "_e : " + type + ") -> " + type + "\n";
}

namespace {
struct Operand {
  std::string value, type, map;
};
} // namespace

static Operand parse(const std::string &text) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, " : ");
  return {parts[0].str(), parts[1].str(), parts[2].str()};
}

std::string generic(const std::string &name, const std::vector<std::string> &operands,
                    const std::string &init, const std::string &loops, const std::string &body) {
  std::string maps, dims, values, types, arguments, iterators;
  for (size_t i = 0; i < loops.size(); ++i) {
    dims += (i ? ", d" : "d") + std::to_string(i);
    iterators += std::string(i ? ", " : "") + (loops[i] == 'p' ? "\"parallel\"" : "\"reduction\"");
  }
  auto map = [&](const std::string &results) {
    return "affine_map<(" + dims + ") -> (" + results + ")>";
  };
  for (auto [index, text] : llvm::enumerate(operands)) {
    Operand operand = parse(text);
    maps += map(operand.map) + ", ";
    values += (index ? ", " : "") + operand.value;
    types += (index ? ", " : "") + operand.type;
    arguments += "%x" + std::to_string(index) + ": " + elementOf(operand.type) + ", ";
  }
  Operand out = parse(init);
  std::string ins = operands.empty() ? "" : "ins(" + values + " : " + types + ") ";
  return "%" + name + " = linalg.generic {indexing_maps = [" + maps + map(out.map) +
         "], iterator_types = [" + iterators + "]} " + ins + "outs(" + out.value + " : " +
         out.type + ") {\n^bb0(" + arguments + "%out: " + elementOf(out.type) + "):\n" + body +
         "\n} -> " + out.type + "\n";
}

} // namespace text
