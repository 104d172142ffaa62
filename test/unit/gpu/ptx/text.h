//===- text.h - PTX as it is written ----------------------------*- C++ -*-===//
//
// The parser divides a text into entries, variables and statements. It knows the grammar, but no
// opcode: see decode.h.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_PTX_TEXT_H
#define TEST_UNIT_GPU_PTX_TEXT_H

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptx {

/// The text is not PTX, or uses something that the interpreter does not have.
class TextError : public std::runtime_error {
public:
  TextError(int line, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

enum class Type : uint8_t {
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
  F16x2,
  BF16x2
};

std::optional<Type> typeNamed(std::string_view name);
/// The size in bytes; of a predicate, that of 32 of them.
uint32_t bytesOf(Type type);

enum class Space : uint8_t { Generic, Global, Shared, Local, Param };

struct Operand {
  enum Kind { Name, Integer, Float32, Float64, Address, Vector, Sink };
  Kind kind = Sink;
  std::string name;           ///< also the base of an address; empty: an absolute address
  std::string second;         ///< q of "p|q"
  bool negated = false;       ///< "!p"
  int64_t number = 0;         ///< a literal's bits, or what is added to a name
  std::vector<Operand> parts; ///< of a vector
};

struct Statement {
  int line = 0;
  std::string guard; ///< the predicate of "@p"; empty: none
  bool negated = false;
  std::string opcode;                 ///< as written
  std::vector<std::string> modifiers; ///< the opcode's parts after the first
  std::vector<Operand> operands;

  std::string base() const { return opcode.substr(0, opcode.find('.')); }
};

struct Variable {
  Space space;
  std::string name;
  uint64_t bytes = 0, alignment = 1;
  bool ofLaunch = false;        ///< the shared memory that a launch adds
  std::vector<uint8_t> initial; ///< the first bytes; the rest is zero
};

struct Parameter {
  std::string name;
  uint64_t offset = 0, bytes = 0;
};

struct EntryText {
  int line = 0;
  std::string name;
  std::vector<Parameter> parameters;
  std::unordered_map<std::string, Type> registers;
  std::vector<Variable> variables;
  std::vector<Statement> statements;
  std::map<std::string, size_t> labels; ///< number of the statement behind a label
  std::map<std::string, std::vector<std::string>> branchTargets;
  uint32_t mostThreads = 1024; ///< of a block
};

struct ModuleText {
  std::vector<Variable> variables;
  std::vector<EntryText> entries;
};

/// Throws a TextError.
ModuleText parse(std::string_view text);

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_TEXT_H
