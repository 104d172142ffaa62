//===- KernelMessage.cpp - kernels as messages of the executable ----------===//

#include "zero/Kernels/KernelMessage.h"

using namespace mlir;

namespace zero {

/// Writes the value of a field of a call into the field of its name.
static void setField(google::protobuf::Message &message, StringRef name, const CallField &value) {
  const google::protobuf::Reflection &to = *message.GetReflection();
  const auto *field = message.GetDescriptor()->FindFieldByName(name.str());
  if (auto *list = std::get_if<DenseI64ArrayAttr>(&value)) {
    for (int64_t number : list->asArrayRef())
      if (field->type() == field->TYPE_UINT64)
        to.AddUInt64(&message, field, number);
      else
        to.AddInt64(&message, field, number);
  } else if (auto *real = std::get_if<FloatAttr>(&value)) {
    to.SetFloat(&message, field, real->getValue().convertToFloat());
  } else if (auto *flag = std::get_if<bool>(&value)) {
    to.SetBool(&message, field, *flag);
  } else if (const int64_t number = std::get<int64_t>(value); field->type() == field->TYPE_ENUM) {
    to.SetEnumValue(&message, field, static_cast<int>(number));
  } else if (field->type() == field->TYPE_UINT64) {
    to.SetUInt64(&message, field, number);
  } else {
    to.SetInt64(&message, field, number);
  }
}

rt::proto::DType dtypeOf(Type type) {
  if (type.isF32())
    return rt::proto::F32;
  if (type.isF64())
    return rt::proto::F64;
  if (type.isF16())
    return rt::proto::F16;
  if (type.isBF16())
    return rt::proto::BF16;
  bool hasSign = !type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return rt::proto::I1;
  case 8:
    return hasSign ? rt::proto::I8 : rt::proto::U8;
  case 16:
    return hasSign ? rt::proto::I16 : rt::proto::U16;
  case 32:
    return hasSign ? rt::proto::I32 : rt::proto::U32;
  default:
    return hasSign ? rt::proto::I64 : rt::proto::U64;
  }
}

void describeCall(LibraryAttr library, rt::proto::Kernel &kernel) {
  if (ArrayAttr stored = library.getStored())
    for (Type type : stored.getAsValueRange<TypeAttr>())
      kernel.add_stored(dtypeOf(type));
  const auto call = cast<CallAttrInterface>(library.getCall());
  const auto *body = kernel.GetDescriptor()->FindFieldByName(call.getCallName().str());
  google::protobuf::Message &message = *kernel.GetReflection()->MutableMessage(&kernel, body);
  setField(
      message, "dtype",
      CallField(int64_t(library.getOperands() ? dtypeOf(library.getOperands()) : rt::proto::F32)));
  call.visitFields([&](StringRef name, const CallField &value) { setField(message, name, value); });
}

void describeKernel(func::FuncOp function, rt::proto::Kernel &kernel) {
  if (auto call = function->getAttrOfType<LibraryAttr>(kLibraryAttr))
    describeCall(call, kernel);
  auto read = [&](StringRef name) -> int64_t {
    auto attr = function->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  kernel.set_workspace(read(kWorkspaceAttr));
  kernel.set_flops(read(kFlopsAttr));
  kernel.set_bytes(read(kBytesAttr));
}

} // namespace zero
