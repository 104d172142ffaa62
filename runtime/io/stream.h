//===- stream.h - sequences from a stream of elements -----------*- C++ -*-===//

#ifndef RUNTIME_IO_STREAM_H
#define RUNTIME_IO_STREAM_H

#include "runtime/io/array.h"

namespace zero::rt {

/// Maps a file without any header: all of it are little-endian elements of `dtype`.
Status readRaw(const std::string &path, DType dtype, Array &array);

/// Makes rows for an input of `shape` of a stream: an array of one dimension that came
/// from a raw file, holds integers for an input of more dimensions, or is to be read from
/// another element than its first. Row i are the elements from skip + i * (elements of a
/// row) on; there are as many as leave `ahead` elements behind the last row of an input
/// with a skip of 0, so that inputs of different skips have equally many. Other arrays
/// stay as they are. Nothing is copied.
Status cutStream(const std::vector<uint64_t> &shape, const ArrayFile &file, Array &array);

} // namespace zero::rt

#endif // RUNTIME_IO_STREAM_H
