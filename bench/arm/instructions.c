/* Counts instructions and bytes of loads and stores of a program that QEMU emulates:
 *
 *   cc -O2 -fPIC -shared bench/arm/instructions.c -o instructions.so
 *   qemu-aarch64 -plugin ./instructions.so -L .deps/arm64 PROGRAM ...
 *
 * Threads are not counted exactly: run programs with one. The declarations are those of QEMU's
 * qemu-plugin.h, which Debian does not package.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t Plugin;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { ADD = 0, NO_REGISTERS = 0, READS_AND_WRITES = 3 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(Plugin,
                                                  void (*)(Plugin, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *,
                                                     uint64_t);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                             void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                             int, void *);
extern unsigned qemu_plugin_mem_size_shift(uint32_t);
extern void qemu_plugin_register_atexit_cb(Plugin, void (*)(Plugin, void *), void *);

int qemu_plugin_version = 1;
static uint64_t instructions, bytes;

static void onAccess(unsigned cpu, uint32_t access, uint64_t address, void *unused) {
  (void)cpu, (void)address, (void)unused;
  bytes += UINT64_C(1) << qemu_plugin_mem_size_shift(access);
}

static void onBlock(Plugin plugin, struct qemu_plugin_tb *block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  (void)plugin;
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &instructions, count);
  for (size_t i = 0; i < count; ++i)
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), onAccess, NO_REGISTERS,
                                     READS_AND_WRITES, NULL);
}

static void onExit(Plugin plugin, void *unused) {
  (void)plugin, (void)unused;
  fprintf(stderr, "instructions %" PRIu64 ", bytes %" PRIu64 "\n", instructions, bytes);
}

int qemu_plugin_install(Plugin plugin, const void *info, int count, char **arguments) {
  (void)info, (void)count, (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, onBlock);
  qemu_plugin_register_atexit_cb(plugin, onExit, NULL);
  return 0;
}
