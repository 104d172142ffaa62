//===- StableHlo.td - ops of StableHLO ------------------------------------===//
//
// Operand counts, regions and kinds of attributes are declared here. Shapes and the values of
// attributes are checked by the rule that converts the op.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_STABLEHLO_STABLEHLO_TD
#define DIALECTS_STABLEHLO_STABLEHLO_TD

include "dialects/StableHlo/StableHloBase.td"

class StableHlo_Op<string mnemonic, list<Trait> traits = [Pure]>
    : Op<StableHlo_Dialect, mnemonic, traits>;

defvar Tensor = AnyStaticShapeTensor;
defvar Tensors = Variadic<AnyStaticShapeTensor>;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

class StableHlo_Unary<string mnemonic>
    : StableHlo_Op<mnemonic, [Pure, SameOperandsAndResultShape]> {
  let arguments = (ins Tensor:$operand, OptionalAttr<AnyAttr>:$result_accuracy);
  let results = (outs Tensor:$result);
}

foreach name = ["abs", "cbrt", "ceil", "convert", "cosine", "count_leading_zeros", "exponential",
                "exponential_minus_one", "floor", "is_finite", "log", "log_plus_one", "logistic",
                "negate", "not", "popcnt", "round_nearest_afz", "round_nearest_even", "rsqrt",
                "sign", "sine", "sqrt", "tan", "tanh"] in
  def StableHlo_Unary_#name : StableHlo_Unary<name>;

class StableHlo_Binary<string mnemonic>
    : StableHlo_Op<mnemonic, [Pure, SameTypeOperands, SameOperandsAndResultShape]> {
  let arguments = (ins Tensor:$lhs, Tensor:$rhs);
  let results = (outs Tensor:$result);
}

foreach name = ["add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power",
                "remainder", "shift_left", "shift_right_arithmetic", "shift_right_logical",
                "subtract", "xor"] in
  def StableHlo_Binary_#name : StableHlo_Binary<name>;

def StableHlo_CompareOp
    : StableHlo_Op<"compare", [Pure, SameTypeOperands, SameOperandsAndResultShape]> {
  let arguments = (ins Tensor:$lhs, Tensor:$rhs,
                       StableHlo_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<StableHlo_ComparisonTypeAttr>:$compare_type);
  let results = (outs Tensor:$result);
}

def StableHlo_SelectOp : StableHlo_Op<"select"> {
  let arguments = (ins Tensor:$pred, Tensor:$on_true, Tensor:$on_false);
  let results = (outs Tensor:$result);
}

def StableHlo_ClampOp : StableHlo_Op<"clamp"> {
  let arguments = (ins Tensor:$min, Tensor:$operand, Tensor:$max);
  let results = (outs Tensor:$result);
}

def StableHlo_BitcastConvertOp : StableHlo_Op<"bitcast_convert"> {
  let arguments = (ins Tensor:$operand);
  let results = (outs Tensor:$result);
}

def StableHlo_ReducePrecisionOp : StableHlo_Op<"reduce_precision"> {
  let arguments = (ins Tensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Constants and movement
//===----------------------------------------------------------------------===//

def StableHlo_ConstantOp : StableHlo_Op<"constant"> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tensor:$result);
  let hasVerifier = 1;
}

def StableHlo_IotaOp : StableHlo_Op<"iota"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs Tensor:$result);
}

def StableHlo_BroadcastInDimOp : StableHlo_Op<"broadcast_in_dim"> {
  let arguments = (ins Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs Tensor:$result);
}

def StableHlo_ReshapeOp : StableHlo_Op<"reshape"> {
  let arguments = (ins Tensor:$operand);
  let results = (outs Tensor:$result);
}

def StableHlo_TransposeOp : StableHlo_Op<"transpose"> {
  let arguments = (ins Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Tensor:$result);
}

def StableHlo_ReverseOp : StableHlo_Op<"reverse"> {
  let arguments = (ins Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Tensor:$result);
}

def StableHlo_ConcatenateOp : StableHlo_Op<"concatenate"> {
  let arguments = (ins Tensors:$inputs, I64Attr:$dimension);
  let results = (outs Tensor:$result);
}

def StableHlo_SliceOp : StableHlo_Op<"slice"> {
  let arguments = (ins Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let results = (outs Tensor:$result);
}

def StableHlo_PadOp : StableHlo_Op<"pad"> {
  let arguments = (ins Tensor:$operand, Tensor:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let results = (outs Tensor:$result);
}

def StableHlo_DynamicSliceOp : StableHlo_Op<"dynamic_slice"> {
  let arguments = (ins Tensor:$operand, Tensors:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Tensor:$result);
}

def StableHlo_DynamicUpdateSliceOp : StableHlo_Op<"dynamic_update_slice"> {
  let arguments = (ins Tensor:$operand, Tensor:$update, Tensors:$start_indices);
  let results = (outs Tensor:$result);
}

def StableHlo_GatherOp : StableHlo_Op<"gather"> {
  let arguments = (ins Tensor:$operand, Tensor:$start_indices,
                       StableHlo_GatherAttr:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Products, reductions, windows
//===----------------------------------------------------------------------===//

def StableHlo_DotGeneralOp : StableHlo_Op<"dot_general"> {
  let arguments = (ins Tensor:$lhs, Tensor:$rhs, StableHlo_DotAttr:$dot_dimension_numbers,
                       OptionalAttr<AnyAttr>:$precision_config, OptionalAttr<AnyAttr>:$algorithm);
  let results = (outs Tensor:$result);
}

def StableHlo_DotOp : StableHlo_Op<"dot"> {
  let arguments = (ins Tensor:$lhs, Tensor:$rhs, OptionalAttr<AnyAttr>:$precision_config);
  let results = (outs Tensor:$result);
}

def StableHlo_ConvolutionOp : StableHlo_Op<"convolution"> {
  let arguments = (ins Tensor:$lhs, Tensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHlo_ConvAttr:$dimension_numbers, I64Attr:$feature_group_count,
                       I64Attr:$batch_group_count, OptionalAttr<AnyAttr>:$precision_config);
  let results = (outs Tensor:$result);
}

/// An op that computes `body` over several inputs at once.
class StableHlo_RegionOp<string mnemonic, dag args> : StableHlo_Op<mnemonic, [RecursivelySpeculatable, RecursiveMemoryEffects]> {
  let arguments = args;
  let results = (outs Tensors:$outputs);
  let regions = (region AnyRegion:$body);
}

def StableHlo_ReduceOp : StableHlo_RegionOp<"reduce", (ins Tensors:$operands,
                                                           DenseI64ArrayAttr:$dimensions)>;

def StableHlo_ReduceWindowOp : StableHlo_RegionOp<"reduce_window", (ins
    Tensors:$operands, DenseI64ArrayAttr:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
    OptionalAttr<DenseI64ArrayAttr>:$window_dilations, OptionalAttr<I64ElementsAttr>:$padding)>;

def StableHlo_SortOp : StableHlo_RegionOp<"sort", (ins
    Tensors:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable)>;

def StableHlo_ScatterOp : StableHlo_RegionOp<"scatter", (ins
    Tensors:$operands, StableHlo_ScatterAttr:$scatter_dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices)>;

def StableHlo_SelectAndScatterOp
    : StableHlo_Op<"select_and_scatter", [RecursivelySpeculatable, RecursiveMemoryEffects]> {
  let arguments = (ins Tensor:$operand, Tensor:$source, Tensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Tensor:$result);
  let regions = (region AnyRegion:$select, AnyRegion:$scatter);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def StableHlo_RngBitGeneratorOp : StableHlo_Op<"rng_bit_generator"> {
  let arguments = (ins StableHlo_RngAlgorithmAttr:$rng_algorithm, Tensor:$initial_state);
  let results = (outs Tensor:$output_state, Tensor:$output);
}

def StableHlo_OptimizationBarrierOp : StableHlo_Op<"optimization_barrier"> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$outputs);
}

def StableHlo_CustomCallOp : StableHlo_Op<"custom_call", []> {
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name,
                       OptionalAttr<BoolAttr>:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config, OptionalAttr<AnyAttr>:$api_version,
                       OptionalAttr<AnyAttr>:$called_computations,
                       OptionalAttr<AnyAttr>:$operand_layouts,
                       OptionalAttr<AnyAttr>:$result_layouts,
                       OptionalAttr<AnyAttr>:$output_operand_aliases);
  let results = (outs Variadic<AnyType>:$outputs);
}

def StableHlo_CompositeOp : StableHlo_Op<"composite", []> {
  let summary = "Call a function that says what a library's op computes";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, OptionalAttr<I32Attr>:$version);
  let results = (outs Variadic<AnyType>:$outputs);
}

def StableHlo_WhileOp
    : StableHlo_Op<"while", [RecursivelySpeculatable, RecursiveMemoryEffects]> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region AnyRegion:$cond, AnyRegion:$body);
  let hasVerifier = 1;
}

def StableHlo_ReturnOp : StableHlo_Op<"return", [Pure, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$values);
}

#endif // DIALECTS_STABLEHLO_STABLEHLO_TD
