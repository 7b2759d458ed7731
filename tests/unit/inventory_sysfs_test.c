// SPDX-License-Identifier: BSD-3-Clause
/* What an inventory makes of a sysfs, a proper one and one that is full of traps. */
#include <fcntl.h>

#include "fake_sysfs.h"

static void an_adapter_and_a_gpu(void **state)
{
	const struct inventory_nic *nic, *second;
	struct inventory *inventory;
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	fake_adapter(&fake);
	inventory = inventory_collect(fake.root);
	assert_int_equal(inventory->nics.len, 2);
	nic = inventory_nic(inventory, "mlx5_0");
	assert_string_equal(nic->name, "mlx5_0:1");
	assert_string_equal(nic->kind, "verbs");
	assert_string_equal(nic->state, "up");
	assert_string_equal(nic->physical, "LinkUp");
	assert_string_equal(nic->width_text, "4X EDR");
	assert_string_equal(nic->netdev, "ens1");
	assert_string_equal(nic->firmware, "28.39.1002");
	assert_int_equal(nic->rate, 100000000000);
	assert_int_equal(nic->mtu, INVENTORY_UNKNOWN);
	assert_int_equal(nic->traffic_class, 106);
	assert_string_equal(nic->pci.address, "0000:18:00.0");
	assert_string_equal(nic->pci.path, "pci0000:16/0000:16:02.0/0000:18:00.0");
	assert_int_equal(nic->pci.width, 8);
	assert_int_equal(nic->pci.max_width, 16);
	assert_int_equal(inventory_pcie_gen(nic->pci.speed), 4);
	assert_int_equal(inventory_pcie_gen(nic->pci.max_speed), 5);
	assert_int_equal(nic->pci.numa, 1);
	assert_int_equal(nic->addresses.len, 2);
	assert_int_equal(nic->addresses.data[1].index, 3);
	assert_string_equal(nic->addresses.data[1].type, "RoCE v2");
	assert_int_equal(nic->counters.len, 3);
	assert_true(inventory_counter(nic, "port_xmit_data") == INT64_MAX);
	assert_int_equal(inventory_counter(nic, "out_of_sequence"), 3);
	assert_int_equal(inventory_counter(nic, "port_rcv_data"), INVENTORY_UNKNOWN);
	second = inventory_nic(inventory, "mlx5_0:2");
	assert_string_equal(second->state, "down");
	assert_int_equal(second->rate, INVENTORY_UNKNOWN);
	assert_non_null(inventory_why(inventory, "nics/mlx5_0:2/rate"));
	assert_int_equal(inventory->gpus.len, 1);
	assert_string_equal(inventory->gpus.data[0].model, "NVIDIA H100");
	assert_string_equal(inventory->gpus.data[0].pci.path,
			    "pci0000:16/0000:16:02.0/0000:19:00.0");
	inventory_free(inventory);
	fake_end(&fake);
}

/* Lines without an end, numbers that are none, pipes and folders in place of files. */
static void traps(const struct fake *fake)
{
	char *endless = malloc(1 << 20);

	memset(endless, '7', 1 << 20);
	endless[(1 << 20) - 1] = '\0';
	fake_file(fake, "sys/class/net/eth0/ifindex", "2\n");
	fake_file(fake, "sys/class/net/eth0/mtu", endless);
	fake_file(fake, "sys/class/net/eth0/speed", "-1\n");
	fake_file(fake, "sys/class/net/eth0/operstate", "\033[31mup\n");
	fake_file(fake, "sys/class/net/eth0/address", "");
	mkfifo(fake_path(fake, "sys/class/net/eth0/type"), 0644);
	mkdir(fake_path(fake, "sys/class/net/eth0/carrier"), 0755);
	fake_link(fake, "sys/class/net/eth0/device", "device");
	fake_link(fake, "sys/class/net/eth0/master", "\033]0;x\a/\033c");
	fake_file(fake, "sys/class/net/eth0/statistics/tx_bytes", "99999999999999999999\n");
	fake_file(fake, "sys/class/net/eth0/statistics/rx_bytes", "0x10\n");
	fake_file(fake, "sys/class/net/eth0/statistics/rx_errors", " 12 \n");
	fake_file(fake, "sys/class/net/a\nb/ifindex", "3\n");
	fake_file(fake, "sys/class/net/a\nb/mtu", "1500\n");
	fake_file(fake, "sys/class/net/bonding_masters", "bond0\n");
	fake_file(fake, "sys/class/infiniband/rxe0/ports/x/rate", "nan Gb/sec (((\n");
	fake_file(fake, "sys/class/infiniband/rxe0/ports/x/state", ":\n");
	fake_file(fake, "sys/class/infiniband/rxe0/ports/x/gids/zz", "fe80::1\n");
	fake_file(fake, "sys/class/infiniband/nothing", "");
	fake_file(fake, "sys/bus/pci/devices/junk/class", "0x030000\n");
	fake_file(fake, "sys/bus/pci/devices/junk/vendor", "0x10de\n");
	fake_file(fake, "sys/devices/system/node/node0x/cpulist", "0\n");
	fake_file(fake, "sys/devices/system/node/node99999/cpulist", "0\n");
	fake_file(fake, "sys/devices/system/cpu/online", "0-99999999999999,,-\n");
	mkfifo(fake_path(fake, "proc/driver/nvidia/gpus/0000:19:00.0/information"), 0644);
	free(endless);
}

static void a_sysfs_full_of_traps(void **state)
{
	const struct inventory_nic *nic;
	struct inventory *inventory;
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	traps(&fake);
	inventory = inventory_collect(fake.root);
	assert_int_equal(inventory->nics.len, 3);
	assert_non_null(inventory_nic(inventory, "a?b"));
	nic = inventory_nic(inventory, "eth0");
	assert_int_equal(nic->mtu, INVENTORY_UNKNOWN);
	assert_int_equal(nic->rate, INVENTORY_UNKNOWN);
	assert_string_equal(nic->state, "?[31mup");
	assert_string_equal(nic->master, "?c");
	assert_null(nic->mac);
	assert_null(nic->link_layer);
	assert_null(nic->pci.address);
	assert_int_equal(nic->counters.len, 4);
	assert_int_equal(inventory_counter(nic, "carrier_down_count"), INVENTORY_UNKNOWN);
	assert_int_equal(inventory_counter(nic, "tx_bytes"), INVENTORY_UNKNOWN);
	assert_int_equal(inventory_counter(nic, "rx_bytes"), INVENTORY_UNKNOWN);
	assert_int_equal(inventory_counter(nic, "rx_errors"), 12);
	nic = inventory_nic(inventory, "rxe0:x");
	assert_int_equal(nic->rate, INVENTORY_UNKNOWN);
	assert_int_equal(nic->addresses.len, 1);
	assert_int_equal(inventory->gpus.len, 1);
	assert_int_equal(inventory->cpus.count, INVENTORY_UNKNOWN);
	assert_int_equal(inventory->numa.len, 1);
	inventory_free(inventory);
	fake_end(&fake);
}

static void nothing_there(void **state)
{
	struct inventory *inventory = inventory_collect("/nonexistent");

	(void)state;
	assert_int_equal(inventory->nics.len + inventory->gpus.len + inventory->numa.len, 0);
	assert_string_equal(inventory->boot_id, "");
	inventory_free(inventory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_adapter_and_a_gpu),
		cmocka_unit_test(a_sysfs_full_of_traps),
		cmocka_unit_test(nothing_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
