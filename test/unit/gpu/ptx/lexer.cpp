//===- lexer.cpp - the words of a PTX text --------------------------------===//

#include "lexer.h"

#include <cctype>
#include <charconv>

namespace ptx {

namespace {

bool isWordStart(char c) { return std::isalpha(c) || c == '_' || c == '$' || c == '%'; }
bool isWordPart(char c) { return std::isalnum(c) || c == '_' || c == '$'; }

class Lexer {
public:
  explicit Lexer(std::string_view text) : rest(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skipSpace();
      tokens.push_back(next());
    } while (tokens.back().kind != Token::End);
    return tokens;
  }

private:
  char at(size_t index) const { return index < rest.size() ? rest[index] : '\0'; }

  std::string_view take(size_t count) {
    std::string_view taken = rest.substr(0, count);
    for (char c : taken)
      line += c == '\n';
    rest.remove_prefix(taken.size());
    return taken;
  }

  void skipSpace() {
    for (;;) {
      if (!rest.empty() && std::isspace(rest.front()))
        take(1);
      else if (rest.starts_with("//"))
        take(std::min(rest.find('\n'), rest.size()));
      else if (rest.starts_with("/*"))
        take(std::min(rest.find("*/"), rest.size() - 2) + 2);
      else
        return;
    }
  }

  Token next() {
    Token token{.line = line};
    if (rest.empty())
      return token;
    if (isWordStart(at(0)))
      return word(token);
    if (std::isdigit(at(0)))
      return number(token);
    if (at(0) == '.' && isWordStart(at(1))) {
      token.kind = Token::Directive;
      size_t size = 1;
      while (isWordPart(at(size)))
        ++size;
      token.text = take(size).substr(1);
      return token;
    }
    token.kind = at(0) == '"' ? Token::String : Token::Symbol;
    const size_t size = at(0) == '"' ? rest.find('"', 1) : 0;
    if (size == std::string_view::npos)
      throw TextError(line, "a string without end");
    token.text = take(size + 1);
    return token;
  }

  Token word(Token token) {
    size_t size = 1;
    for (;;) {
      if (isWordPart(at(size)))
        ++size;
      else if (at(size) == '.' && isWordPart(at(size + 1)))
        size += 2;
      else if (at(size) == ':' && at(size + 1) == ':' && isWordPart(at(size + 2)))
        size += 3;
      else
        break;
    }
    token.kind = Token::Word;
    token.text = take(size);
    return token;
  }

  Token number(Token token) {
    const char kind = at(0) == '0' ? at(1) : '\0';
    if (kind == 'f' || kind == 'F')
      return digits(token, 2, 8, 16, Operand::Float32);
    if (kind == 'd' || kind == 'D')
      return digits(token, 2, 16, 16, Operand::Float64);
    if (kind == 'x' || kind == 'X')
      return digits(token, 2, 16, 16, Operand::Integer);
    return digits(token, 0, 20, 10, Operand::Integer);
  }

  Token digits(Token token, size_t prefix, size_t most, int base, Operand::Kind kind) {
    size_t size = 0;
    while (size < most &&
           (base == 16 ? std::isxdigit(at(prefix + size)) : std::isdigit(at(prefix + size))))
      ++size;
    uint64_t value = 0;
    const char *begin = rest.data() + prefix, *end = begin + size;
    const bool whole = kind == Operand::Integer ? size > 0 : size == most;
    if (auto [last, error] = std::from_chars(begin, end, value, base);
        !whole || error != std::errc() || last != end)
      throw TextError(line, "expected a number, got '" + std::string(rest.substr(0, 20)) + "'");
    size_t suffix = kind == Operand::Integer && at(prefix + size) == 'U' ? 1 : 0;
    if (isWordPart(at(prefix + size + suffix)))
      throw TextError(line, "expected a number, got '" +
                                std::string(rest.substr(0, prefix + size + suffix + 1)) + "'");
    token.kind = Token::Number;
    token.text = take(prefix + size + suffix);
    token.number = int64_t(value);
    token.numberKind = kind;
    return token;
  }

  std::string_view rest;
  int line = 1;
};

} // namespace

std::vector<Token> tokensOf(std::string_view text) { return Lexer(text).run(); }

} // namespace ptx
