//===- Attributes.cpp - read and write attributes of StableHLO ------------===//
//
// Most are lists of fields in any order: <offset_dims = [0], index_vector_dim = 1>. A field that is
// left out is empty or 0.
//
//===----------------------------------------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero::stablehlo {

namespace {
/// A field of an attribute: a list of integers, or one integer.
struct Field {
  StringRef name;
  bool isList;
  SmallVector<int64_t> values = {};

  int64_t number() const { return values.empty() ? 0 : values.front(); }
};
} // namespace

static ParseResult parseField(AsmParser &parser, MutableArrayRef<Field> fields) {
  StringRef name;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  auto *field = llvm::find_if(fields, [&](const Field &field) { return field.name == name; });
  if (field == fields.end())
    return parser.emitError(where) << "unknown field '" << name << "'";
  field->values.clear();
  auto parseNumber = [&] { return parser.parseInteger(field->values.emplace_back()); };
  if (!field->isList)
    return parseNumber();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber);
}

static ParseResult parseFields(AsmParser &parser, MutableArrayRef<Field> fields) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                        [&] { return parseField(parser, fields); });
}

static void printFields(AsmPrinter &printer, ArrayRef<Field> fields) {
  auto isPrinted = [](const Field &field) {
    return field.isList ? !field.values.empty() : field.number() != 0;
  };
  printer << "<";
  llvm::interleaveComma(llvm::make_filter_range(fields, isPrinted), printer.getStream(),
                        [&](const Field &field) {
                          printer << field.name << " = ";
                          if (!field.isList) {
                            printer << field.number();
                            return;
                          }
                          printer << "[";
                          llvm::interleaveComma(field.values, printer.getStream());
                          printer << "]";
                        });
  printer << ">";
}

static SmallVector<int64_t> listOf(ArrayRef<int64_t> values) {
  return SmallVector<int64_t>(values);
}

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

Attribute DotAttr::parse(AsmParser &parser, Type) {
  Field fields[] = {{"lhs_batching_dimensions", true},
                    {"rhs_batching_dimensions", true},
                    {"lhs_contracting_dimensions", true},
                    {"rhs_contracting_dimensions", true}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), fields[0].values, fields[1].values, fields[2].values,
             fields[3].values);
}

void DotAttr::print(AsmPrinter &printer) const {
  printFields(printer, {{"lhs_batching_dimensions", true, listOf(getLhsBatch())},
                        {"rhs_batching_dimensions", true, listOf(getRhsBatch())},
                        {"lhs_contracting_dimensions", true, listOf(getLhsContracting())},
                        {"rhs_contracting_dimensions", true, listOf(getRhsContracting())}});
}

Attribute GatherDimsAttr::parse(AsmParser &parser, Type) {
  Field fields[] = {{"offset_dims", true},           {"collapsed_slice_dims", true},
                    {"operand_batching_dims", true}, {"start_indices_batching_dims", true},
                    {"start_index_map", true},       {"index_vector_dim", false}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), fields[0].values, fields[1].values, fields[2].values,
             fields[3].values, fields[4].values, fields[5].number());
}

void GatherDimsAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"offset_dims", true, listOf(getOffsetDims())},
               {"collapsed_slice_dims", true, listOf(getCollapsedSliceDims())},
               {"operand_batching_dims", true, listOf(getOperandBatchingDims())},
               {"start_indices_batching_dims", true, listOf(getStartIndicesBatchingDims())},
               {"start_index_map", true, listOf(getStartIndexMap())},
               {"index_vector_dim", false, {getIndexVectorDim()}}});
}

Attribute ScatterDimsAttr::parse(AsmParser &parser, Type) {
  Field fields[] = {{"update_window_dims", true},           {"inserted_window_dims", true},
                    {"input_batching_dims", true},          {"scatter_indices_batching_dims", true},
                    {"scatter_dims_to_operand_dims", true}, {"index_vector_dim", false}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), fields[0].values, fields[1].values, fields[2].values,
             fields[3].values, fields[4].values, fields[5].number());
}

void ScatterDimsAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"update_window_dims", true, listOf(getUpdateWindowDims())},
               {"inserted_window_dims", true, listOf(getInsertedWindowDims())},
               {"input_batching_dims", true, listOf(getInputBatchingDims())},
               {"scatter_indices_batching_dims", true, listOf(getScatterIndicesBatchingDims())},
               {"scatter_dims_to_operand_dims", true, listOf(getScatterDimsToOperandDims())},
               {"index_vector_dim", false, {getIndexVectorDim()}}});
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kConvLetters = "bfio";

/// `b`, `f`, `i`, `o`, or the number of a spatial dimension.
static ParseResult parseConvDim(AsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  int64_t number;
  OptionalParseResult spatial = parser.parseOptionalInteger(number);
  if (spatial.has_value()) {
    dims.push_back(number);
    return *spatial;
  }
  StringRef letter;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&letter))
    return failure();
  size_t index = letter.size() == 1 ? kConvLetters.find(letter[0]) : StringRef::npos;
  if (index == StringRef::npos)
    return parser.emitError(where)
           << "expected 'b', 'f', 'i', 'o' or a number, got '" << letter << "'";
  dims.push_back(-1 - int64_t(index));
  return success();
}

static ParseResult parseConvDims(AsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseConvDim(parser, dims); });
}

Attribute ConvAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhs, rhs, result;
  if (parser.parseLess() || parseConvDims(parser, lhs) || parser.parseKeyword("x") ||
      parseConvDims(parser, rhs) || parser.parseArrow() || parseConvDims(parser, result) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), lhs, rhs, result);
}

void ConvAttr::print(AsmPrinter &printer) const {
  auto printDims = [&](ArrayRef<int64_t> dims) {
    printer << "[";
    llvm::interleaveComma(dims, printer.getStream(), [&](int64_t dim) {
      if (dim < 0 && dim >= -int64_t(kConvLetters.size()))
        printer << kConvLetters.substr(-1 - dim, 1);
      else
        printer << dim;
    });
    printer << "]";
  };
  printer << "<";
  printDims(getLhs());
  printer << "x";
  printDims(getRhs());
  printer << "->";
  printDims(getResult());
  printer << ">";
}

} // namespace zero::stablehlo
