// A plugin for QEMU's user emulation that counts the instructions that a program executes, on any processor. It is compiled and
// loaded by `script/bench instructions`, and prints the sum at the program's end.
//
// Debian's QEMU has the interface but not its header, so what is used of version 1 is declared here
// (https://www.qemu.org/docs/master/devel/tcg-plugins.html).
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*ended)(qemu_plugin_id_t id, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, enum qemu_plugin_op op, void *counter, uint64_t value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended callback, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_outs(const char *text);

int qemu_plugin_version = 1;

// Threads add to it without a lock, so the sum of several threads is a little too small.
static uint64_t count;

static void add(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void report(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    char text[64];
    snprintf(text, sizeof text, "instructions: %" PRIu64 "\n", count);
    qemu_plugin_outs(text);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count_of_arguments, char **arguments) {
    (void)info, (void)count_of_arguments, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, add);
    qemu_plugin_register_atexit_cb(id, report, NULL);
    return 0;
}
