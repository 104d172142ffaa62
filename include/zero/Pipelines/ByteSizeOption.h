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

/// Parses a flag whose value is a struct with `bytes`; reports no error: the tools do.
template <typename Value, std::optional<uint64_t> (*Parse)(std::string_view)>
class BytesParser : public llvm::cl::basic_parser<Value> {
public:
  using llvm::cl::basic_parser<Value>::basic_parser;

  bool parse(llvm::cl::Option &, llvm::StringRef, llvm::StringRef text, Value &value) {
    std::optional<uint64_t> bytes = Parse(text);
    value.bytes = bytes.value_or(0);
    return !bytes;
  }
  void printOptionDiff(const llvm::cl::Option &, Value, const llvm::cl::OptionValue<Value> &,
                       size_t) const {}
};

} // namespace zero

template <>
class llvm::cl::parser<zero::ByteSize>
    : public zero::BytesParser<zero::ByteSize, zero::planning::parseByteSize> {
public:
  using BytesParser::BytesParser;
  StringRef getValueName() const override { return "bytes"; }
};

template <>
class llvm::cl::parser<zero::BytesPerDay>
    : public zero::BytesParser<zero::BytesPerDay, zero::planning::parseBytesPerDay> {
public:
  using BytesParser::BytesParser;
  StringRef getValueName() const override { return "bytes/day"; }
};

#endif // ZERO_PIPELINES_BYTESIZEOPTION_H
