//===- decode.h - from statements to instructions ---------------*- C++ -*-===//
//
// Each family of opcodes has a file with the functions that execute them and those that decode
// them. A decoding function takes the modifiers that it knows; any that remains is an error.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_PTX_DECODE_H
#define TEST_UNIT_GPU_PTX_DECODE_H

#include "program.h"
#include "types.h"

namespace ptx {

/// The registers, variables and constants of an entry that is being decoded.
class Registers {
public:
  Registers(const EntryText &text, const ModuleText &module, const Globals &globals);

  std::optional<Type> typeOf(const std::string &name) const;
  uint32_t placeOf(const std::string &name) const { return places.at(name); }
  /// A register that has the same value for all threads.
  uint32_t constant(uint64_t bits, uint32_t bytes);
  std::optional<uint32_t> special(const std::string &name);
  /// The address of a variable in its own space.
  std::optional<uint64_t> addressOf(const std::string &name) const;
  const Parameter *parameter(const std::string &name) const;
  /// Writes what an entry needs to know.
  void describe(Entry &entry) const;

private:
  uint32_t take(uint32_t bytes);
  void placeVariables();

  const EntryText &text;
  const ModuleText &module;
  const Globals &globals;
  std::unordered_map<std::string, uint32_t> places;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> constants;
  std::map<std::string, uint32_t> specials;
  std::map<std::string, uint64_t> addresses; ///< of variables in shared and local memory
  uint32_t registerBytes = 0;
  uint64_t sharedBytes = 0, localBytes = 0;
};

class Decoding {
public:
  Decoding(const Statement &statement, const EntryText &text, Registers &registers, Entry &entry)
      : statement(statement), registers(registers), text(text), entry(entry),
        modifiers(statement.modifiers) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw TextError(statement.line, "'" + statement.opcode + "': " + what);
  }

  /// Modifiers.
  bool take(std::string_view modifier);
  void require(std::string_view modifier);
  bool takeAny(std::initializer_list<std::string_view> any);
  std::optional<std::string> takeOneOf(std::initializer_list<std::string_view> any);
  Type takeType();
  /// Fails if a modifier is left, or if there are other than this many operands.
  void expectOperands(size_t count) const;

  /// Operands. They are of the width of `type`, or at least as wide if `wider`.
  uint32_t destination(size_t index, Type type);
  uint32_t source(size_t index, Type type);
  uint32_t sourceOf(const Operand &operand, Type type);
  uint32_t destinationOf(const Operand &operand, Type type);
  Type registerType(const Operand &operand) const;
  const Operand &operand(size_t index) const;
  int64_t integer(size_t index) const;
  uint32_t label(size_t index) const;
  /// Sets space, base and offset of the instruction from an address.
  void address(size_t index, Space space, Type type = Type::B64);
  /// The second result, in "d|p".
  void secondDestination(size_t index);

  /// d, a, b, c of an instruction with as many sources of one type.
  void setOperands(Type result, Type type, size_t sources);
  void setRun(Instruction::Run run) {
    if (!run)
      fail("this type is not implemented");
    made.run = run;
  }

  const Statement &statement;
  Registers &registers;
  const EntryText &text;
  Entry &entry;
  Instruction made;

private:
  std::vector<std::string> modifiers;
};

using Decode = void (*)(Decoding &);
/// Decoding functions by the first part of the opcode.
using Opcodes = std::map<std::string_view, Decode>;

void addArithmetic(Opcodes &opcodes);
void addBits(Opcodes &opcodes);
void addComparisons(Opcodes &opcodes);
void addControl(Opcodes &opcodes);
void addConversions(Opcodes &opcodes);
void addCopies(Opcodes &opcodes);
void addFunctions(Opcodes &opcodes);
void addMatrices(Opcodes &opcodes);
void addMemory(Opcodes &opcodes);
void addMoves(Opcodes &opcodes);
void addWarpFunctions(Opcodes &opcodes);

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_DECODE_H
