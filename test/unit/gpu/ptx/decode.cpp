//===- decode.cpp - from statements to instructions -----------------------===//

#include "decode.h"

#include <algorithm>
#include <unordered_set>

namespace ptx {

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Registers::Registers(const EntryText &text, const ModuleText &module, const Globals &globals)
    : text(text), module(module), globals(globals) {
  for (const auto &[name, type] : text.registers)
    places[name] = take(type == Type::Pred ? 4 : bytesOf(type) * kLanes);
  placeVariables();
}

static void collectNames(const Operand &operand, std::unordered_set<std::string_view> &names) {
  names.insert(operand.name);
  for (const Operand &part : operand.parts)
    collectNames(part, names);
}

/// An entry has the shared variables that it names. The memory that a launch adds is behind them.
void Registers::placeVariables() {
  std::unordered_set<std::string_view> names;
  for (const Statement &statement : text.statements)
    for (const Operand &operand : statement.operands)
      collectNames(operand, names);
  auto place = [&](const Variable &variable, uint64_t &bytes) {
    bytes = (bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
    if (addresses.try_emplace(variable.name, bytes).second)
      bytes += variable.bytes;
  };
  for (const Variable &variable : text.variables)
    if (variable.space == Space::Local)
      place(variable, localBytes);
  for (bool ofLaunch : {false, true})
    for (const auto *variables : {&text.variables, &module.variables})
      for (const Variable &variable : *variables)
        if (variable.space == Space::Shared && variable.ofLaunch == ofLaunch &&
            names.count(variable.name))
          place(variable, sharedBytes);
}

uint32_t Registers::take(uint32_t bytes) {
  const uint32_t place = registerBytes;
  registerBytes += (bytes + 63) / 64 * 64;
  return place;
}

std::optional<Type> Registers::typeOf(const std::string &name) const {
  auto found = text.registers.find(name);
  return found == text.registers.end() ? std::nullopt : std::optional(found->second);
}

uint32_t Registers::constant(uint64_t bits, uint32_t bytes) {
  if (bytes < 8)
    bits &= (uint64_t(1) << (8 * bytes)) - 1;
  auto [found, isNew] = constants.try_emplace({bytes, bits}, 0);
  if (isNew)
    found->second = take(bytes * kLanes);
  return found->second;
}

std::optional<uint32_t> Registers::special(const std::string &name) {
  static const std::initializer_list<std::string_view> known = {
      "%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x",   "%ntid.y",   "%ntid.z", "%ctaid.x",
      "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid"};
  if (std::find(known.begin(), known.end(), name) == known.end())
    return std::nullopt;
  auto [found, isNew] = specials.try_emplace(name, 0);
  if (isNew)
    found->second = take(4 * kLanes);
  return found->second;
}

std::optional<uint64_t> Registers::addressOf(const std::string &name) const {
  if (auto found = addresses.find(name); found != addresses.end())
    return found->second;
  if (auto found = globals.find(name); found != globals.end())
    return found->second;
  if (const Parameter *found = parameter(name))
    return found->offset;
  return std::nullopt;
}

const Parameter *Registers::parameter(const std::string &name) const {
  for (const Parameter &parameter : text.parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

void Registers::describe(Entry &entry) const {
  for (const auto &[key, place] : constants)
    entry.constants.push_back({place, key.first, key.second});
  entry.specials = specials;
  entry.registerBytes = registerBytes;
  entry.sharedBytes = sharedBytes;
  entry.localBytes = localBytes;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Decoding::take(std::string_view modifier) {
  auto found = std::find(modifiers.begin(), modifiers.end(), modifier);
  if (found == modifiers.end())
    return false;
  modifiers.erase(found);
  return true;
}

void Decoding::require(std::string_view modifier) {
  if (!take(modifier))
    fail("only with '." + std::string(modifier) + "' is it implemented");
}

bool Decoding::takeAny(std::initializer_list<std::string_view> any) {
  return takeOneOf(any).has_value();
}

std::optional<std::string> Decoding::takeOneOf(std::initializer_list<std::string_view> any) {
  for (std::string_view each : any)
    if (take(each))
      return std::string(each);
  return std::nullopt;
}

Type Decoding::takeType() {
  for (auto modifier = modifiers.begin(); modifier != modifiers.end(); ++modifier)
    if (auto type = typeNamed(*modifier)) {
      modifiers.erase(modifier);
      return *type;
    }
  fail("it has no type");
}

void Decoding::expectOperands(size_t count) const {
  if (!modifiers.empty())
    fail("'." + modifiers.front() + "' is not implemented");
  if (statement.operands.size() != count)
    fail("expected " + std::to_string(count) + " operands, got " +
         std::to_string(statement.operands.size()));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

const Operand &Decoding::operand(size_t index) const {
  if (index >= statement.operands.size())
    fail("expected more than " + std::to_string(statement.operands.size()) + " operands");
  return statement.operands[index];
}

Type Decoding::registerType(const Operand &operand) const {
  auto type = operand.kind == Operand::Name ? registers.typeOf(operand.name) : std::nullopt;
  if (!type)
    fail("expected a register" +
         (operand.name.empty() ? "" : ", got '" + operand.name + "', which is not declared"));
  return *type;
}

static bool fits(Type declared, Type type) {
  return (declared == Type::Pred) == (type == Type::Pred) && bytesOf(declared) == bytesOf(type);
}

uint32_t Decoding::destinationOf(const Operand &operand, Type type) {
  if (!fits(registerType(operand), type))
    fail("'" + operand.name + "' is of another size");
  return registers.placeOf(operand.name);
}

uint32_t Decoding::sourceOf(const Operand &operand, Type type) {
  const uint32_t bytes = bytesOf(type);
  if (operand.kind == Operand::Name && registers.typeOf(operand.name))
    return destinationOf(operand, type);
  if (type == Type::Pred && operand.kind == Operand::Integer)
    return registers.constant(operand.number != 0 ? ~uint64_t(0) : 0, 4);
  if (type == Type::Pred)
    fail("expected a predicate");
  if (operand.kind == Operand::Name) {
    if (auto place = registers.special(operand.name)) {
      if (bytes != 4)
        fail("'" + operand.name + "' is of another size");
      return *place;
    }
    if (auto address = registers.addressOf(operand.name)) {
      if (bytes != 8)
        fail("the address '" + operand.name + "' has 64 bits");
      return registers.constant(*address + uint64_t(operand.number), 8);
    }
    registerType(operand); // fails
  }
  const bool right = operand.kind == Operand::Integer
                         ? !isFloat(type) || type == Type::F16 || type == Type::BF16
                     : operand.kind == Operand::Float32 ? bytes == 4
                                                        : bytes == 8;
  if (operand.kind > Operand::Float64 || !right)
    fail("an operand that is not of its type");
  return registers.constant(uint64_t(operand.number), bytes);
}

uint32_t Decoding::destination(size_t index, Type type) {
  return destinationOf(operand(index), type);
}

uint32_t Decoding::source(size_t index, Type type) { return sourceOf(operand(index), type); }

int64_t Decoding::integer(size_t index) const {
  if (operand(index).kind != Operand::Integer)
    fail("expected a number");
  return operand(index).number;
}

uint32_t Decoding::label(size_t index) const {
  auto found = text.labels.find(operand(index).name);
  if (found == text.labels.end())
    fail("no label '" + operand(index).name + "'");
  return uint32_t(found->second);
}

void Decoding::address(size_t index, Space space, Type type) {
  const Operand &place = operand(index);
  if (place.kind != Operand::Address)
    fail("expected an address in brackets");
  made.space = space;
  made.number = place.number;
  if (place.name.empty()) {
    made.a = registers.constant(0, 8);
    return;
  }
  Operand base = place;
  base.kind = Operand::Name;
  base.number = 0;
  made.a = sourceOf(base, type);
}

void Decoding::secondDestination(size_t index) {
  const Operand &both = operand(index);
  if (both.second.empty())
    return;
  if (registers.typeOf(both.second) != Type::Pred)
    fail("expected a predicate, got '" + both.second + "'");
  made.predicate = registers.placeOf(both.second);
}

void Decoding::setOperands(Type result, Type type, size_t sources) {
  expectOperands(sources + 1);
  made.d = destination(0, result);
  uint32_t *const places[] = {&made.a, &made.b, &made.c};
  for (size_t i = 0; i < sources; ++i)
    *places[i] = source(i + 1, type);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static const Opcodes &opcodes() {
  static const Opcodes all = [] {
    Opcodes made;
    for (auto *add : {addArithmetic, addBits, addComparisons, addControl, addConversions, addCopies,
                      addFunctions, addMatrices, addMemory, addMoves, addWarpFunctions})
      add(made);
    return made;
  }();
  return all;
}

static void setGuard(Decoding &decoding) {
  const Statement &statement = decoding.statement;
  if (statement.guard.empty())
    return;
  if (decoding.registers.typeOf(statement.guard) != Type::Pred)
    decoding.fail("its guard '" + statement.guard + "' is no predicate");
  decoding.made.guard = decoding.registers.placeOf(statement.guard);
  decoding.made.negated = statement.negated;
}

Entry decode(const EntryText &text, const ModuleText &module, const Globals &globals) {
  Entry entry{.name = text.name, .parameters = text.parameters, .mostThreads = text.mostThreads};
  Registers registers(text, module, globals);
  entry.statements = text.statements;
  // At the end, an entry returns.
  entry.statements.push_back({.line = text.line, .opcode = "ret"});
  for (const Statement &statement : entry.statements) {
    Decoding decoding(statement, text, registers, entry);
    auto found = opcodes().find(statement.base());
    if (found == opcodes().end())
      decoding.fail("this opcode is not implemented");
    setGuard(decoding);
    found->second(decoding);
    entry.code.push_back(decoding.made);
  }
  registers.describe(entry);
  return entry;
}

Program load(std::string_view text, const std::function<uint64_t(const Variable &)> &allocate) {
  const ModuleText module = parse(text);
  Globals globals;
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Global)
      globals[variable.name] = allocate(variable);
  Program program;
  for (const EntryText &entry : module.entries)
    if (!program.entries.emplace(entry.name, decode(entry, module, globals)).second)
      throw TextError(entry.line, "a second entry '" + entry.name + "'");
  return program;
}

} // namespace ptx
