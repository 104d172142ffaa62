//===- lexer.h - the words of a PTX text ------------------------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_PTX_LEXER_H
#define TEST_UNIT_GPU_PTX_LEXER_H

#include "text.h"

namespace ptx {

struct Token {
  enum Kind { Word, Directive, Number, String, Symbol, End };
  Kind kind = End;
  std::string_view text; ///< a directive's without its dot
  int line = 0;
  Operand::Kind numberKind = Operand::Integer;
  int64_t number = 0;
};

/// Words contain dots ("add.rn.f32", "%tid.x"); a directive begins with one. The last token is an
/// End.
std::vector<Token> tokensOf(std::string_view text);

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_LEXER_H
