/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Positions in TCP connections: both ends count the bytes of a direction by the same sequence
 * numbers. The kernel keeps at the sender the number of the next byte that is written, at the
 * receiver that of the next byte that is read. With a hash of the connection's addresses and ports
 * it is an identity that both ends of a message can read, on one host or on two.
 */
#ifndef UCXBPF_SOCKET_BPF_H
#define UCXBPF_SOCKET_BPF_H

#include "fifo.bpf.h"
#include <bpf/bpf_core_read.h>

/* Linux 5.15 to 6.18; a kernel without one of these has no positions. */
struct in6_addr___ub {
	__u64 half[2];
};

struct sock_common___ub {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr___ub skc_v6_daddr, skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct sock___ub {
	struct sock_common___ub __sk_common;
	__u16 sk_protocol;
} __attribute__((preserve_access_index));

struct tcp_sock___ub {
	__u32 write_seq, copied_seq;
} __attribute__((preserve_access_index));

struct socket___ub {
	struct sock___ub *sk;
} __attribute__((preserve_access_index));

struct file___ub {
	void *private_data;
} __attribute__((preserve_access_index));

struct fdtable___ub {
	unsigned int max_fds;
	struct file___ub **fd;
} __attribute__((preserve_access_index));

struct files_struct___ub {
	struct fdtable___ub *fdt;
} __attribute__((preserve_access_index));

#define PROTOCOL_TCP 6
#define FAMILY_INET6 10

/* The struct sock behind a file descriptor of the current task; 0: it is no TCP connection. */
__weak __noinline __u64 socket_of(__u32 fd)
{
	struct files_struct___ub *files = (void *)bpf_get_current_task_btf()->files;
	struct fdtable___ub *table = BPF_CORE_READ(files, fdt);
	struct file___ub *file = NULL, **slots;
	struct socket___ub *socket;
	struct sock___ub *sk;

	if (!bpf_core_field_exists(struct tcp_sock___ub, copied_seq) ||
	    !bpf_core_field_exists(struct tcp_sock___ub, write_seq) ||
	    fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	slots = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &slots[fd]);
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	return BPF_CORE_READ(sk, sk_protocol) == PROTOCOL_TCP ? (__u64)sk : 0;
}

static __always_inline __u32 written(__u64 sk)
{
	return BPF_CORE_READ((struct tcp_sock___ub *)sk, write_seq);
}

static __always_inline __u32 taken(__u64 sk)
{
	return BPF_CORE_READ((struct tcp_sock___ub *)sk, copied_seq);
}

static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static __always_inline __u64 mixed_address(__u64 hash, const struct in6_addr___ub *address)
{
	return mixed(mixed(hash, address->half[0]), address->half[1]);
}

/* One direction of a connection: the same at both ends, unless a router changes addresses. */
__weak __noinline __u32 socket_direction(__u64 sk, int receives)
{
	struct sock_common___ub *common = &((struct sock___ub *)sk)->__sk_common;
	struct in6_addr___ub near = {}, far = {};
	__u64 ports, near_port, far_port;

	if (BPF_CORE_READ(common, skc_family) != FAMILY_INET6) {
		near.half[0] = BPF_CORE_READ(common, skc_rcv_saddr);
		far.half[0] = BPF_CORE_READ(common, skc_daddr);
	} else if (bpf_core_field_exists(common->skc_v6_daddr)) {
		bpf_core_read(&near, sizeof(near), &common->skc_v6_rcv_saddr);
		bpf_core_read(&far, sizeof(far), &common->skc_v6_daddr);
	}
	near_port = BPF_CORE_READ(common, skc_num);
	far_port = __builtin_bswap16(BPF_CORE_READ(common, skc_dport));
	ports = receives ? far_port << 16 | near_port : near_port << 16 | far_port;
	if (receives)
		return mixed_address(mixed_address(ports, &far), &near) >> 32;
	return mixed_address(mixed_address(ports, &near), &far) >> 32;
}

/* uct_tcp_ep_t.fd: src/uct/tcp/tcp.h, since 1.13. With another offset socket_took() fails. */
#define TCP_EP_FD 16

/* uct_tcp_am_hdr_t: src/uct/tcp/tcp.h, since 1.13 */
struct tcp_am_header {
	__u8 am_id;
	__u32 length;
} __attribute__((packed));

/*
 * At the entry of a send that succeeds, UCX has nothing left of the one before
 * (uct_tcp_ep_check_tx_res(), src/uct/tcp/tcp_ep.c): the next byte written is the message's first.
 */
__weak __noinline __u64 socket_head(__u64 uct_ep)
{
	__u64 sk = socket_of((__u32)read_u64(uct_ep + TCP_EP_FD));

	return sk ? (__u64)socket_direction(sk, 0) << 32 | written(sk) : FIFO_NOT_SEEN;
}

/* Whether the message, and nothing else, was written meanwhile. Not static: verified once. */
__weak __noinline int socket_took(__u64 uct_ep, __u64 before, __u64 length)
{
	__u64 sk = socket_of((__u32)read_u64(uct_ep + TCP_EP_FD));

	return sk && written(sk) - (__u32)before == length + sizeof(struct tcp_am_header);
}

/*
 * Entry of ucs_socket_recv_nb(fd, data, ...): the next bytes of the connection go to where those
 * end that UCX has in that buffer. src/ucs/sys/sock.c, and uct_tcp_ep_recv() and
 * uct_tcp_ep_progress_am_rx() in src/uct/tcp/tcp_ep.c, since 1.13.
 */
static __always_inline void socket_reads(const struct hit *hit, __u32 fd, __u64 data)
{
	struct reading *reading = &hit->task->reading;

	reading->sk = 0;
	if (!fifo_due(&reading->turn, hit->ts))
		return;
	reading->sk = socket_of(fd);
	reading->data = data;
	reading->seq = reading->sk ? taken(reading->sk) : 0;
}

/*
 * Whether the task's last read brought the arrival's last byte, and its header lies before it: then
 * the header has its position in that connection.
 */
__weak __noinline int socket_arrival(struct task_state *task, struct ub_rx *rx, __u8 am_id)
{
	struct tcp_am_header header;
	__u64 sk, at, end;

	if (!task || !rx)
		return 0;
	sk = task->reading.sk;
	at = rx->data - sizeof(header) - task->reading.data;
	end = at + sizeof(header) + rx->length;
	/* far away: it came by another transport, and the kernel is not asked */
	if (!end || end >> 32 || end > taken(sk) - task->reading.seq ||
	    bpf_probe_read_user(&header, sizeof(header), (void *)(rx->data - sizeof(header))) ||
	    header.am_id != am_id || header.length != rx->length)
		return 0;
	rx->data = (__u64)socket_direction(sk, 1) << 32 | (__u32)(task->reading.seq + at);
	rx->h.flags |= UB_F_SOCKET;
	return 1;
}

#endif
