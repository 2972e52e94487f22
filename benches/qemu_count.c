// A plugin of qemu's: counts the guest's instructions between two calls of sched_yield, which nothing else here calls, and
// prints them to the standard error when the guest ends.
//
// qemu counts the same on every machine. Its header (qemu-plugin.h) is in no package of Debian's, so what is used of it is
// declared here. Its interface 2 (qemu 9) took functions away that are not used.

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*run)(unsigned int, void *), int registers, void *data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, void (*called)(qemu_plugin_id_t, unsigned int, int64_t, uint64_t,
	uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *), void *data);

int qemu_plugin_version = INTERFACE;

// On aarch64.
enum { SCHED_YIELD = 124 };

static bool is_counting;
static uint64_t instructions;

static void run(unsigned int cpu, void *length) {
	(void)cpu;
	if (is_counting) {
		instructions += (uintptr_t)length;
	}
}

// The blocks that were translated before are run again, so each is asked for all the time.
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, run, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void called(qemu_plugin_id_t id, unsigned int cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
	uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
	(void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	if (number == SCHED_YIELD) {
		is_counting = !is_counting;
	}
}

static void ended(qemu_plugin_id_t id, void *data) {
	(void)id, (void)data;
	fprintf(stderr, "%" PRIu64 "\n", instructions);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *qemu, int count, char **arguments) {
	(void)qemu, (void)count, (void)arguments;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_vcpu_syscall_cb(id, called);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
