//===- memory.h - memory of any tier ----------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_MEMORY_H
#define RUNTIME_SUPPORT_MEMORY_H

#include "runtime/support/status.h"

#include <cstdint>
#include <functional>

namespace zero::rt {

/// Memory that is read and written between steps, on any tier: in place if the host can access it,
/// else piece by piece through host memory.
class Memory {
public:
  virtual ~Memory() = default;
  /// The address of the memory for the host, or nullptr.
  virtual char *host() const = 0;
  /// Whether unwritten bytes are zeros.
  virtual bool startsAsZeros() const { return false; }

  /// Consecutive pieces of the requested range: `done` bytes are before this one. All but the last
  /// are a multiple of kPiece bytes long.
  using Piece = std::function<Status(char *piece, uint64_t done, uint64_t bytes)>;
  static constexpr uint64_t kPiece = 4096;

  /// Hands the bytes from `offset` on to `use`.
  Status read(uint64_t offset, uint64_t bytes, const Piece &use) const {
    if (bytes == 0)
      return {};
    return host() ? use(host() + offset, 0, bytes) : readPieces(offset, bytes, use);
  }
  /// Lets `make` write the bytes from `offset` on, all of them.
  Status write(uint64_t offset, uint64_t bytes, const Piece &make) {
    if (bytes == 0)
      return {};
    return host() ? make(host() + offset, 0, bytes) : writePieces(offset, bytes, make);
  }

protected:
  /// The same if host() is nullptr.
  virtual Status readPieces(uint64_t, uint64_t, const Piece &) const { return unreachable(); }
  virtual Status writePieces(uint64_t, uint64_t, const Piece &) { return unreachable(); }

private:
  static Status unreachable() { return {ZERO_RT_INTERNAL, "memory that nobody can reach"}; }
};

/// Memory of the host that another object owns.
class HostMemory final : public Memory {
public:
  explicit HostMemory(void *start) : start(static_cast<char *>(start)) {}
  char *host() const override { return start; }

private:
  char *start;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_MEMORY_H
