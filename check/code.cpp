//===- code.cpp - contents of native kernels ------------------------------===//
// The same kernel in two objects differs in the displacements of operands relative to the
// instruction pointer, as constants are merged and calls go through a table. An operand of this
// kind is a byte of mode and registers, whose bits say so, and a displacement of 32 bits. Such
// bytes whose displacement leads into constants, or into a table of functions, are taken to be one.
// If they are not, two equal kernels may seem different, but hardly two different ones equal: what
// they point to counts instead of them.
//===----------------------------------------------------------------------===//

#include "check/kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <set>
#include <vector>

namespace zero::check {

/// An immediate byte behind a displacement moves its target by one, so one that is a byte before a
/// multiple of four stands for that: constants are aligned to their elements.
static uint64_t startOf(uint64_t target) { return target % 4 == 3 ? target + 1 : target; }

namespace {
struct Function {
  std::string name;
  uint64_t begin, end; ///< with the functions that only this one calls, which precede it
};

class Object {
public:
  explicit Object(const std::string &code);
  std::string contentOf(const Function &function) const;

  std::vector<Function> functions;

private:
  template <typename T>
  T read(uint64_t offset) const {
    require(offset <= code.size() && sizeof(T) <= code.size() - offset,
            "the code section is not a whole shared object");
    T value;
    std::memcpy(&value, code.data() + offset, sizeof(T));
    return value;
  }
  std::string nameAt(uint64_t offset) const;
  uint8_t byteAt(uint64_t address) const;
  const Elf64_Shdr *sectionOf(uint64_t address) const;
  bool isConstant(uint64_t address) const;

  void readFunctions(const Elf64_Shdr &symbols);
  void readImports(const Elf64_Shdr &relocations);
  void findConstants();
  /// The target of what may be an operand relative to the instruction pointer, whose byte of mode
  /// is at `address`; 0 if it is none.
  uint64_t targetAt(uint64_t address, uint64_t end) const;
  /// What the displacement behind `address` is relative to, plus it; 0 if it is not before `end`.
  uint64_t relativeAt(uint64_t address, uint64_t end) const;
  std::string constantAt(uint64_t target) const;
  std::string importAt(uint64_t address) const;

  const std::string &code;
  std::vector<Elf64_Shdr> sections;
  std::map<uint64_t, std::string> imports; ///< by the address of their entry
  std::set<uint64_t> constants;            ///< where constants begin, if at multiples of four
};
} // namespace

Object::Object(const std::string &code) : code(code) {
  const auto header = read<Elf64_Ehdr>(0);
  require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_X86_64,
          "expected a shared object for x86-64 in the code section: the checker identifies kernels "
          "of CPUs only");
  for (int i = 0; i < header.e_shnum; ++i)
    sections.push_back(read<Elf64_Shdr>(header.e_shoff + uint64_t(i) * sizeof(Elf64_Shdr)));
  for (const Elf64_Shdr &section : sections)
    if (section.sh_type == SHT_DYNSYM)
      readFunctions(section);
  for (const Elf64_Shdr &section : sections)
    if (section.sh_type == SHT_RELA)
      readImports(section);
  findConstants();
}

std::string Object::nameAt(uint64_t offset) const {
  require(offset < code.size(), "the code section is not a whole shared object");
  return {code.data() + offset, strnlen(code.data() + offset, code.size() - offset)};
}

const Elf64_Shdr *Object::sectionOf(uint64_t address) const {
  for (const Elf64_Shdr &section : sections)
    if ((section.sh_flags & SHF_ALLOC) && address >= section.sh_addr &&
        address - section.sh_addr < section.sh_size)
      return &section;
  return nullptr;
}

uint8_t Object::byteAt(uint64_t address) const {
  const Elf64_Shdr *section = sectionOf(address);
  require(section && section->sh_type != SHT_NOBITS, "code outside of its section");
  return read<uint8_t>(section->sh_offset + address - section->sh_addr);
}

bool Object::isConstant(uint64_t address) const {
  const Elf64_Shdr *section = sectionOf(address);
  return section && section->sh_type == SHT_PROGBITS &&
         !(section->sh_flags & (SHF_EXECINSTR | SHF_WRITE));
}

void Object::readFunctions(const Elf64_Shdr &symbols) {
  require(symbols.sh_link < sections.size(), "the code section has no names");
  const uint64_t names = sections[symbols.sh_link].sh_offset;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read<Elf64_Sym>(symbols.sh_offset + at);
    if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
      functions.push_back(
          {nameAt(names + symbol.st_name), symbol.st_value, symbol.st_value + symbol.st_size});
  }
  std::sort(functions.begin(), functions.end(),
            [](const Function &a, const Function &b) { return a.begin < b.begin; });
  uint64_t previous = 0;
  for (Function &function : functions) {
    const Elf64_Shdr *text = sectionOf(function.begin);
    require(text && function.end >= function.begin, "a kernel is outside of the code");
    const uint64_t end = function.end;
    function.begin = std::max(text->sh_addr, (previous + 15) / 16 * 16);
    previous = end;
  }
}

void Object::readImports(const Elf64_Shdr &relocations) {
  require(relocations.sh_link < sections.size(), "the code section has no symbols");
  const Elf64_Shdr &symbols = sections[relocations.sh_link];
  const uint64_t names =
      symbols.sh_link < sections.size() ? sections[symbols.sh_link].sh_offset : 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.sh_size; at += sizeof(Elf64_Rela)) {
    const auto entry = read<Elf64_Rela>(relocations.sh_offset + at);
    const auto symbol =
        read<Elf64_Sym>(symbols.sh_offset + ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym));
    imports[entry.r_offset] = nameAt(names + symbol.st_name);
  }
  // A stub of the table jumps to the address that its entry contains: ff 25 displacement.
  for (const Elf64_Shdr &section : sections)
    if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR))
      for (uint64_t at = section.sh_addr; at + 6 <= section.sh_addr + section.sh_size; at += 16)
        if (byteAt(at) == 0xff && byteAt(at + 1) == 0x25)
          if (auto it = imports.find(targetAt(at + 1, at + 6)); it != imports.end())
            imports[at] = it->second;
}

uint64_t Object::relativeAt(uint64_t address, uint64_t end) const {
  const Elf64_Shdr *section = sectionOf(address);
  if (address + 5 > end || !section)
    return 0;
  const auto displacement = read<int32_t>(section->sh_offset + address + 1 - section->sh_addr);
  return address + 5 + uint64_t(int64_t(displacement));
}

uint64_t Object::targetAt(uint64_t address, uint64_t end) const {
  return (byteAt(address) & 0xc7) == 0x05 ? relativeAt(address, end) : 0;
}

void Object::findConstants() {
  for (const Function &function : functions)
    for (uint64_t at = function.begin; at < function.end; ++at)
      if (uint64_t target = startOf(targetAt(at, function.end));
          target % 4 == 0 && isConstant(target))
        constants.insert(target);
}

/// All bytes up to the next constant that some operand names. What is behind the constant proper
/// are zeros of an alignment, which do not count: an instruction that reads fewer or more bytes
/// differs itself. How far the target is from the start counts: the same instruction has the same
/// immediate byte, so that differs only if the displacement does.
std::string Object::constantAt(uint64_t target) const {
  const uint64_t address = startOf(target);
  const Elf64_Shdr *section = sectionOf(address);
  require(section, "a constant is outside of its section");
  auto next = constants.upper_bound(address);
  uint64_t end = section->sh_addr + section->sh_size;
  if (next != constants.end())
    end = std::min(end, *next);
  std::string bytes;
  for (uint64_t at = address; at < end; ++at)
    bytes += char(byteAt(at));
  bytes.erase(bytes.find_last_not_of('\0') + 1);
  return "constant " + std::to_string(address - target) + " " + std::to_string(bytes.size()) + ":" +
         bytes;
}

std::string Object::importAt(uint64_t address) const {
  auto it = imports.find(address);
  return it == imports.end() ? "" : "function " + it->second + ":";
}

std::string Object::contentOf(const Function &function) const {
  std::string bytes, targets;
  for (uint64_t at = function.begin; at < function.end;) {
    std::string meaning;
    if (uint64_t target = targetAt(at, function.end)) {
      meaning = importAt(target);
      if (meaning.empty() && isConstant(target))
        meaning = constantAt(target);
    } else if (byteAt(at) == 0xe8 || byteAt(at) == 0xe9) { // a call or a jump
      meaning = importAt(relativeAt(at, function.end));
    }
    bytes += char(byteAt(at));
    if (meaning.empty()) {
      ++at;
      continue;
    }
    bytes += std::string(4, '\0');
    targets += std::to_string(at - function.begin) + meaning;
    at += 5;
  }
  return bytes + targets;
}

std::map<std::string, std::string> contentsOf(const std::string &code) {
  std::map<std::string, std::string> found;
  if (code.empty())
    return found;
  const Object object(code);
  for (const Function &function : object.functions)
    found[function.name] = object.contentOf(function);
  return found;
}

} // namespace zero::check
