//===- code.h - contents of native kernels ----------------------*- C++ -*-===//

#ifndef CHECK_CODE_H
#define CHECK_CODE_H

#include <map>
#include <string>

namespace zero::check {

/// The content of each function that the shared object `code` defines: its bytes, where those of a
/// displacement to constants or to functions of other libraries stand for what they point to. It
/// depends on nothing else in the object. Throws a Refusal unless `code` is for x86-64.
std::map<std::string, std::string> contentsOf(const std::string &code);

} // namespace zero::check

#endif // CHECK_CODE_H
