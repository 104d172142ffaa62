//===- fields.h - numbers and texts in a message ----------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_FIELDS_H
#define RUNTIME_PROCESSES_FIELDS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace zero::rt {

/// Appends a number or a text, which Fields reads in the same order.
void append(std::string &body, uint64_t number);
void append(std::string &body, std::string_view text);

/// Reads what append() has written. Anything else leaves results as they are, and isOk() false.
class Fields {
public:
  explicit Fields(std::string_view body) : rest(body) {}
  uint64_t number();
  std::string_view text();
  bool isOk() const { return ok; }
  bool isAtEnd() const { return ok && rest.empty(); }

private:
  std::string_view rest;
  bool ok = true;
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_FIELDS_H
