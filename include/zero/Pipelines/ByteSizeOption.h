//===- ByteSizeOption.h - flags that are numbers of bytes -------*- C++ -*-===//

#ifndef ZERO_PIPELINES_BYTESIZEOPTION_H
#define ZERO_PIPELINES_BYTESIZEOPTION_H

#include "zero/Planning/ByteSize.h"

#include "llvm/Support/CommandLine.h"

namespace zero {

/// The value of a flag that takes "512MiB" as well as "536870912".
struct ByteSize {
  uint64_t bytes = 0;

  operator uint64_t() const { return bytes; }
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, ByteSize size) {
  return os << size.bytes;
}

/// The value of a flag that takes "2TB/day".
struct BytesPerDay {
  uint64_t bytes = 0;

  operator uint64_t() const { return bytes; }
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, BytesPerDay rate) {
  return os << rate.bytes << "/day";
}

} // namespace zero

/// Parses a ByteSize; reports no error: the tools do.
template <>
class llvm::cl::parser<zero::ByteSize> : public llvm::cl::basic_parser<zero::ByteSize> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &, StringRef, StringRef text, zero::ByteSize &size) {
    std::optional<uint64_t> bytes = zero::planning::parseByteSize(text);
    size.bytes = bytes.value_or(0);
    return !bytes;
  }
  StringRef getValueName() const override { return "bytes"; }
  void printOptionDiff(const Option &, zero::ByteSize, const OptionValue<zero::ByteSize> &,
                       size_t) const {}
};

/// Parses BytesPerDay; reports no error: the tools do.
template <>
class llvm::cl::parser<zero::BytesPerDay> : public llvm::cl::basic_parser<zero::BytesPerDay> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &, StringRef, StringRef text, zero::BytesPerDay &rate) {
    std::optional<uint64_t> bytes = zero::planning::parseBytesPerDay(text);
    rate.bytes = bytes.value_or(0);
    return !bytes;
  }
  StringRef getValueName() const override { return "bytes/day"; }
  void printOptionDiff(const Option &, zero::BytesPerDay, const OptionValue<zero::BytesPerDay> &,
                       size_t) const {}
};

#endif // ZERO_PIPELINES_BYTESIZEOPTION_H
