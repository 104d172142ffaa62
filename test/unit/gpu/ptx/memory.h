//===- memory.h - memory that knows who used it -----------------*- C++ -*-===//
//
// For each 4 bytes, the shadow has the last write and the last reads by threads, and which bytes
// have been written at all. Where threads access single bytes, it has the same for each byte.
//
// Time is counted in phases. Each block of a launch begins a phase, and so does each barrier of a
// block: two threads of different warps race if they access the same memory in the same phase, and
// one writes. Threads of one warp are also ordered by barriers of the warp, which are counted in
// epochs. Accesses by two blocks of one launch always race.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_PTX_MEMORY_H
#define TEST_UNIT_GPU_PTX_MEMORY_H

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

namespace ptx {

/// A thread that accesses memory.
struct Access {
  uint32_t since = 0;  ///< the first phase of the launch; of the block for its shared memory
  uint32_t block = 0;  ///< the first phase of the block
  uint32_t phase = 0;  ///< of the access
  uint32_t epoch = 0;  ///< of the warp, below kEpochs
  uint32_t thread = 0; ///< number in the block
};

inline constexpr uint32_t kEpochs = 1 << 19;

/// A write by one thread, or reads by some.
struct Record {
  uint32_t phase = 0;
  uint32_t thread : 10 = 0, epoch : 19 = 0;
  /// Other threads of the same warp, of other warps or of other blocks did the same.
  uint32_t manyThreads : 1 = 0, manyWarps : 1 = 0, manyBlocks : 1 = 0;
};

enum class Conflict : uint8_t { None, Unwritten, WithWrite, WithRead, NonCoherent };

/// What is wrong with an access, and who made the earlier one.
struct Verdict {
  Conflict conflict = Conflict::None;
  Record earlier;
};

/// Memory that is zero and costs nothing until it is used.
template <typename T>
class ZeroedArray {
public:
  explicit ZeroedArray(uint64_t count) : count(count) {}
  T &operator[](uint64_t index) {
    if (!memory)
      memory.reset(static_cast<T *>(std::calloc(count, sizeof(T))));
    return memory.get()[index];
  }

private:
  struct Free {
    void operator()(T *pointer) const { std::free(pointer); }
  };
  uint64_t count;
  std::unique_ptr<T, Free> memory;
};

class Shadow {
public:
  explicit Shadow(uint64_t bytes)
      : bytes(bytes), states(bytes / 4 + 1), words(bytes / 4 + 1), singles((bytes / 4 + 1) * 4) {}

  /// Something else than a thread wrote there.
  void fill(uint64_t offset, uint64_t size) { setWritten(offset, size); }
  /// What was there is gone.
  void forget();
  bool isWritten(uint64_t offset, uint64_t size);

  Verdict read(uint64_t offset, uint64_t size, const Access &who, bool nonCoherent);
  /// Threads of a warp may write the same value to the same place: if what is at `host` equals
  /// `value`.
  Verdict write(uint64_t offset, uint64_t size, const Access &who, const char *host,
                const char *value);

private:
  struct Word {
    Record written, read;
  };
  static constexpr uint8_t kAllWritten = 0x0f, kSplit = 0x10;

  void setWritten(uint64_t offset, uint64_t size);
  /// Calls body(word) for each record of [offset, offset + size).
  template <typename Body>
  Verdict forEachRecord(uint64_t offset, uint64_t size, bool joins, Body body);

  uint64_t bytes;
  ZeroedArray<uint8_t> states; ///< for 4 bytes: which are written; kSplit: the bytes have records
  ZeroedArray<Word> words, singles;
};

/// A piece of memory with an address of its own.
struct Region {
  Region(uint64_t address, uint64_t bytes);
  bool contains(uint64_t place, uint64_t size) const {
    return place >= address && size <= bytes && place - address <= bytes - size;
  }

  uint64_t address, bytes;
  std::unique_ptr<char[]> host;
  Shadow shadow;
};

/// The memory of GPUs. No address is given twice, and nothing borders on anything else.
class DeviceMemory {
public:
  Region &allocate(uint64_t bytes);
  /// Returns false if no region begins there.
  bool release(uint64_t address);
  /// The region that contains all of the bytes, or nullptr.
  Region *find(uint64_t place, uint64_t size);
  /// Says why find() found nothing.
  std::string describe(uint64_t place) const;
  /// Begins a phase.
  uint32_t nextPhase() { return ++phase; }

private:
  std::map<uint64_t, Region> regions;
  std::map<uint64_t, uint64_t> released; ///< sizes by address
  /// No address of the host has this bit: to follow a device address there is a fault.
  uint64_t next = uint64_t(1) << 62;
  uint32_t phase = 0;
};

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_MEMORY_H
