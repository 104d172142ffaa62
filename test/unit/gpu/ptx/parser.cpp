//===- parser.cpp - parse PTX ---------------------------------------------===//

#include "lexer.h"

#include <algorithm>
#include <set>

namespace ptx {

static const std::map<std::string_view, Type> &typeNames() {
  static const std::map<std::string_view, Type> names = {
      {"pred", Type::Pred}, {"b8", Type::B8},       {"b16", Type::B16},      {"b32", Type::B32},
      {"b64", Type::B64},   {"u8", Type::U8},       {"u16", Type::U16},      {"u32", Type::U32},
      {"u64", Type::U64},   {"s8", Type::S8},       {"s16", Type::S16},      {"s32", Type::S32},
      {"s64", Type::S64},   {"f16", Type::F16},     {"bf16", Type::BF16},    {"f32", Type::F32},
      {"f64", Type::F64},   {"f16x2", Type::F16x2}, {"bf16x2", Type::BF16x2}};
  return names;
}

std::optional<Type> typeNamed(std::string_view name) {
  auto found = typeNames().find(name);
  return found == typeNames().end() ? std::nullopt : std::optional(found->second);
}

uint32_t bytesOf(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  default:
    return 4;
  }
}

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : tokens(tokensOf(text)) {}

  ModuleText run() {
    parseHeader();
    ModuleText module;
    while (peek().kind != Token::End)
      parseDefinition(module);
    return module;
  }

private:
  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  const Token &next() {
    const Token &token = peek();
    at = std::min(at + 1, tokens.size() - 1);
    return token;
  }
  [[noreturn]] void fail(const Token &token, const std::string &expected) const {
    const std::string text = (token.kind == Token::Directive ? "." : "") + std::string(token.text);
    throw TextError(token.line,
                    "expected " + expected + ", got " +
                        (token.kind == Token::End ? "the end of the text" : "'" + text + "'"));
  }
  bool is(std::string_view symbol) const {
    return peek().kind == Token::Symbol && peek().text == symbol;
  }
  bool take(std::string_view symbol) {
    const bool found = is(symbol);
    if (found)
      next();
    return found;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol))
      fail(peek(), "'" + std::string(symbol) + "'");
  }
  bool isDirective(std::string_view name) const {
    return peek().kind == Token::Directive && peek().text == name;
  }
  bool takeDirective(std::string_view name) {
    const bool found = isDirective(name);
    if (found)
      next();
    return found;
  }
  void expectDirective(std::string_view name) {
    if (!takeDirective(name))
      fail(peek(), "'." + std::string(name) + "'");
  }
  std::string word(const std::string &what) {
    if (peek().kind != Token::Word)
      fail(peek(), what);
    return std::string(next().text);
  }
  int64_t integer(const std::string &what) {
    if (peek().kind != Token::Number || peek().numberKind != Operand::Integer)
      fail(peek(), what);
    return next().number;
  }
  Type type() {
    auto found = peek().kind == Token::Directive ? typeNamed(peek().text) : std::nullopt;
    if (!found)
      fail(peek(), "a type");
    next();
    return *found;
  }

  //===--------------------------------------------------------------------===//
  // Modules
  //===--------------------------------------------------------------------===//

  void parseHeader() {
    expectDirective("version");
    integer("a version");
    expect(".");
    integer("a version");
    expectDirective("target");
    word("an architecture");
    while (take(","))
      word("an option of the target");
    expectDirective("address_size");
    if (const Token &token = peek(); integer("64") != 64)
      fail(token, "64");
  }

  void parseDefinition(ModuleText &module) {
    if (takeDirective("extern")) {
      module.variables.push_back(parseMemoryOfLaunch());
      return;
    }
    for (const char *linkage : {"visible", "weak", "common"})
      takeDirective(linkage);
    if (isDirective("entry"))
      module.entries.push_back(parseEntry());
    else
      module.variables.push_back(parseVariable());
  }

  static std::optional<Space> spaceOf(std::string_view directive) {
    if (directive == "global" || directive == "const")
      return Space::Global;
    if (directive == "shared")
      return Space::Shared;
    if (directive == "local")
      return Space::Local;
    return std::nullopt;
  }

  /// Alignment, type and name of a variable. Returns the size of an element.
  uint32_t parseDeclaration(Variable &variable) {
    const bool aligned = takeDirective("align");
    if (aligned)
      variable.alignment = uint64_t(integer("an alignment"));
    const uint32_t element = bytesOf(type());
    if (!aligned)
      variable.alignment = element;
    variable.name = word("a name");
    return element;
  }

  /// ".extern .shared .align 16 .b8 memory[];"
  Variable parseMemoryOfLaunch() {
    expectDirective("shared");
    Variable variable{.space = Space::Shared, .ofLaunch = true};
    parseDeclaration(variable);
    for (const char *symbol : {"[", "]", ";"})
      expect(symbol);
    return variable;
  }

  Variable parseVariable() {
    const Token &token = next();
    auto space = token.kind == Token::Directive ? spaceOf(token.text) : std::nullopt;
    if (!space)
      fail(token, "an entry or a variable");
    Variable variable{.space = *space};
    const uint32_t element = parseDeclaration(variable);
    uint64_t elements = 1;
    while (take("[")) {
      elements *= uint64_t(integer("a number of elements"));
      expect("]");
    }
    variable.bytes = elements * element;
    if (take("="))
      parseInitial(variable, element);
    if (variable.initial.size() > variable.bytes)
      throw TextError(token.line, "'" + variable.name + "' has more values than elements");
    expect(";");
    return variable;
  }

  void parseInitial(Variable &variable, uint32_t element) {
    const bool list = take("{");
    do {
      const bool negative = take("-");
      if (peek().kind != Token::Number)
        fail(peek(), "a number");
      const int64_t magnitude = next().number, value = negative ? -magnitude : magnitude;
      for (uint32_t byte = 0; byte < element; ++byte)
        variable.initial.push_back(uint8_t(uint64_t(value) >> (8 * byte)));
    } while (list && take(","));
    if (list)
      expect("}");
  }

  //===--------------------------------------------------------------------===//
  // Entries
  //===--------------------------------------------------------------------===//

  EntryText parseEntry() {
    entry = {.line = peek().line};
    expectDirective("entry");
    entry.name = word("the name of an entry");
    expect("(");
    while (!take(")")) {
      if (!entry.parameters.empty())
        expect(",");
      parseParameter();
    }
    parseLimits();
    parseScope();
    return std::move(entry);
  }

  void parseParameter() {
    expectDirective("param");
    uint64_t alignment = 0;
    if (takeDirective("align"))
      alignment = uint64_t(integer("an alignment"));
    Parameter parameter{.bytes = bytesOf(type())};
    alignment = std::max(alignment, parameter.bytes);
    if (takeDirective("ptr")) { // says what the pointer points to
      if (peek().kind == Token::Directive && spaceOf(peek().text))
        next();
      if (takeDirective("align"))
        integer("an alignment");
    }
    parameter.name = word("a parameter");
    if (take("[")) {
      parameter.bytes *= uint64_t(integer("a number of elements"));
      expect("]");
    }
    const uint64_t end = entry.parameters.empty()
                             ? 0
                             : entry.parameters.back().offset + entry.parameters.back().bytes;
    parameter.offset = (end + alignment - 1) / alignment * alignment;
    entry.parameters.push_back(parameter);
  }

  /// ".maxntid 256, 1, 1" and its like.
  void parseLimits() {
    while (peek().kind == Token::Directive) {
      const std::string_view name = next().text;
      if (name != "maxntid" && name != "reqntid" && name != "minnctapersm" && name != "maxnreg")
        fail(tokens[at - 1], "a limit of an entry");
      uint64_t product = 1;
      do
        product *= uint64_t(integer("a limit"));
      while (take(","));
      if (name == "maxntid" || name == "reqntid")
        entry.mostThreads = uint32_t(product);
    }
  }

  /// Registers of an inner scope get names of their own.
  void parseScope() {
    expect("{");
    const bool outer = scopes.empty();
    scopes.emplace_back();
    suffixes.push_back(outer ? "" : "#" + std::to_string(++scopeCount));
    while (!take("}"))
      parseStatement();
    scopes.pop_back();
    suffixes.pop_back();
  }

  void parseStatement() {
    if (is("{"))
      return parseScope();
    if (peek().kind == Token::Word && peek(1).kind == Token::Symbol && peek(1).text == ":")
      return parseLabel();
    if (takeDirective("reg"))
      return parseRegisters();
    if (takeDirective("pragma")) {
      next();
      return expect(";");
    }
    if (isDirective("shared") || isDirective("local")) {
      entry.variables.push_back(parseVariable());
      return;
    }
    parseInstruction();
  }

  void parseLabel() {
    const Token &token = peek();
    const std::string name = word("a label");
    expect(":");
    if (takeDirective("branchtargets")) {
      std::vector<std::string> &targets = entry.branchTargets[name];
      do
        targets.push_back(word("a label"));
      while (take(","));
      return expect(";");
    }
    if (!entry.labels.try_emplace(name, entry.statements.size()).second)
      throw TextError(token.line, "a second label '" + name + "'");
  }

  void declare(const Token &token, const std::string &name, Type type) {
    if (!scopes.back().insert(name).second)
      throw TextError(token.line, "a second register '" + name + "'");
    entry.registers[name + suffixes.back()] = type;
  }

  void parseRegisters() {
    const Type of = type();
    do {
      const Token &token = peek();
      const std::string name = word("a register");
      if (!take("<")) {
        declare(token, name, of);
        continue;
      }
      const int64_t count = integer("a number of registers");
      expect(">");
      for (int64_t i = 0; i < count; ++i)
        declare(token, name + std::to_string(i), of);
    } while (take(","));
    expect(";");
  }

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  /// The name of a register in the innermost scope that declares it, or `name`.
  std::string resolve(const std::string &name) const {
    for (size_t depth = scopes.size(); depth > 0; --depth)
      if (scopes[depth - 1].count(name))
        return name + suffixes[depth - 1];
    return name;
  }

  void parseInstruction() {
    Statement statement{.line = peek().line};
    if (take("@")) {
      statement.negated = take("!");
      statement.guard = resolve(word("a predicate"));
    }
    statement.opcode = word("an instruction");
    for (size_t dot = statement.opcode.find('.'); dot != std::string::npos;) {
      const size_t begin = dot + 1;
      dot = statement.opcode.find('.', begin);
      statement.modifiers.push_back(statement.opcode.substr(begin, dot - begin));
    }
    while (!take(";")) {
      if (!statement.operands.empty())
        expect(",");
      statement.operands.push_back(parseOperand());
    }
    entry.statements.push_back(std::move(statement));
  }

  Operand parseOperand() {
    Operand operand;
    if (take("{")) {
      operand.kind = Operand::Vector;
      do
        operand.parts.push_back(parseOperand());
      while (take(","));
      expect("}");
      return operand;
    }
    if (take("[")) {
      operand = peek().kind == Token::Word ? parseName() : parseNumber();
      operand.kind = Operand::Address;
      expect("]");
      return operand;
    }
    operand.negated = take("!");
    if (peek().kind != Token::Word)
      return parseNumber();
    const bool negated = operand.negated;
    operand = parseName();
    operand.negated = negated;
    return operand;
  }

  Operand parseNumber() {
    const bool negative = take("-");
    const Token &token = next();
    if (token.kind != Token::Number || (negative && token.numberKind != Operand::Integer))
      fail(token, "an operand");
    return {.kind = token.numberKind, .number = negative ? -token.number : token.number};
  }

  Operand parseName() {
    const std::string name = word("a name");
    if (name == "_")
      return {};
    Operand operand{.kind = Operand::Name, .name = resolve(name)};
    if (take("|"))
      operand.second = resolve(word("a register"));
    else if (take("+") || is("-"))
      operand.number = parseNumber().number;
    return operand;
  }

  std::vector<Token> tokens;
  size_t at = 0;
  EntryText entry;
  std::vector<std::set<std::string>> scopes;
  std::vector<std::string> suffixes;
  int scopeCount = 0;
};

} // namespace

ModuleText parse(std::string_view text) { return Parser(text).run(); }

} // namespace ptx
