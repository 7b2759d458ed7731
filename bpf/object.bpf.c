/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The lives of workers, ifaces and endpoints: rare, so clarity before speed. */
#define QUIET_FROM UB_STOP
#include "over.bpf.h"
#include "span.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* uct_iface_params_t, uct_ep_params_t, ucp_ep_params_t: public ABI (uct.h, ucp.h; since 1.13) */
#define IFACE_PARAMS_OPEN_MODE 136
#define IFACE_PARAMS_TL_NAME 144
#define IFACE_PARAMS_DEV_NAME 152
#define UCT_IFACE_OPEN_MODE_DEVICE 1
/* Since 1.22, for proxy endpoints: no uct_base_iface_t, and nothing is sent through it. */
#define UCT_IFACE_OPEN_MODE_STUB 8
#define UCT_EP_PARAMS_IFACE 8
#define UCP_EP_PARAMS_ADDRESS 8
#define UCP_EP_PARAM_FIELD_REMOTE_ADDRESS 1
#define UCP_MEM_MAP_PARAMS_FLAGS 24
#define UCP_MEM_MAP_PARAM_FIELD_FLAGS 4
#define UCP_MEM_MAP_ALLOCATE 2
/* ucp_mem_t begins with the region's start and end (src/ucp/core/ucp_mm.h, 1.13 to 1.22). */
#define UCP_MEM_START 0
#define UCP_MEM_END 8
#define PACKED_ADDRESS_UUID 1 /* behind one header byte (src/ucp/wireup/address.c, version 1) */

static __always_inline void read_name(char *name, __u32 size, __u64 at)
{
	bpf_probe_read_user_str(name, size, (void *)read_u64(at));
}

static __always_inline void iface_names(struct ub_obj *obj, __u64 params, __u64 mode)
{
	if (!(mode & UCT_IFACE_OPEN_MODE_DEVICE))
		return;
	read_name(obj->tl_name, sizeof(obj->tl_name), params + IFACE_PARAMS_TL_NAME);
	read_name(obj->dev_name, sizeof(obj->dev_name), params + IFACE_PARAMS_DEV_NAME);
}

static __always_inline int object_enter(struct pt_regs *ctx)
{
	return span_enter(ctx, UB_OBJ);
}

/* Creations hand their result to the caller through a pointer. Returns that pointer. */
static __always_inline __u64 object_arguments(struct ub_obj *obj, const struct leaving *leaving)
{
	const __u64 *args = leaving->frame->args;
	__u64 mode;

	switch (leaving->site->what) {
	case UB_OBJ_IFACE_OPEN:
		mode = read_u64(args[3] + IFACE_PARAMS_OPEN_MODE);
		iface_names(obj, args[3], mode);
		return mode & UCT_IFACE_OPEN_MODE_STUB ? 0 : args[5];
	case UB_OBJ_UCT_EP_CREATE:
		obj->parent = read_u64(args[1] + UCT_EP_PARAMS_IFACE);
		return args[2];
	case UB_OBJ_UCP_EP_CREATE:
		obj->parent = args[1];
		if (read_u64(args[2]) & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS)
			obj->uuid = read_u64(read_u64(args[2] + UCP_EP_PARAMS_ADDRESS) +
					     PACKED_ADDRESS_UUID);
		return args[3];
	case UB_OBJ_WORKER_CREATE:
		return args[3];
	case UB_OBJ_WORKER_ADDRESS:
		obj->obj = args[1];
		return args[2];
	case UB_OBJ_MEM_MAP:
		if (read_u64(args[2]) & UCP_MEM_MAP_PARAM_FIELD_FLAGS)
			obj->parent =
				read_u64(args[2] + UCP_MEM_MAP_PARAMS_FLAGS) & UCP_MEM_MAP_ALLOCATE;
		return args[3];
	}
	return 0;
}

static __always_inline void object_result(struct ub_obj *obj, __u64 result, __u8 what,
					  const struct ub_layout *layout)
{
	if (what == UB_OBJ_WORKER_ADDRESS) {
		obj->uuid = read_u64(result + PACKED_ADDRESS_UUID);
		return;
	}
	obj->obj = result;
	if (!layout->req_size)
		return;
	if (what == UB_OBJ_WORKER_CREATE)
		obj->uuid = read_u64(result + layout->worker_uuid);
	if (what == UB_OBJ_IFACE_OPEN)
		obj->parent = read_u64(result + layout->iface_worker);
	if (what == UB_OBJ_MEM_MAP && obj->parent) {
		obj->parent = read_u64(result + UCP_MEM_START);
		obj->uuid = read_u64(result + UCP_MEM_END);
	}
}

static __always_inline void endpoints_changed(__u8 what)
{
	if (what == UB_OBJ_UCT_EP_CREATE || what == UB_OBJ_UCT_EP_DESTROY)
		__sync_fetch_and_add(&ep_generation, 1);
}

/* Records of this thread that name the endpoint leave first: they may yet be folded. */
static __always_inline void endpoint_over(struct task_state *task, __u64 uct_ep, __u64 now)
{
	struct outbox *box = &task->outbox;

	if (box->bytes && outbox_take(box)) {
		outbox_flush(box, now);
		outbox_give_back(box);
	}
	ep_gone(box->space, uct_ep);
}

/* A record, and the head that it has if it leaves by itself. */
struct lone_obj {
	struct ub_batch head;
	struct ub_obj obj;
};

_Static_assert(sizeof(struct lone_obj) <= SCRATCH, "made there");

static __always_inline struct lone_obj *lone_begin(struct task_state *task)
{
	struct lone_obj *lone = (struct lone_obj *)task->scratch;

	__builtin_memset(lone, 0, sizeof(*lone));
	return lone;
}

static __always_inline void lone_end(struct task_state *task, struct lone_obj *lone, __u64 now)
{
	struct outbox *box = &task->outbox;

	if (!outbox_take(box)) {
		emit_alone(&lone->head, sizeof(*lone), UB_OBJ);
		return;
	}
	*place(box, ub_obj, UB_OBJ, lone->obj.h.ts) = lone->obj;
	outbox_settle(box, now);
	outbox_give_back(box);
}

static __always_inline int object_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	struct lone_obj *lone;
	struct ub_obj *obj;
	__u64 out;

	if (!leave_begin(&leaving, ctx))
		return 0;
	lone = lone_begin(leaving.task);
	obj = &lone->obj;
	leave_header(&obj->h, &leaving);
	obj->h.seq = 0;
	obj->status = (__s8)leaving.ret;
	endpoints_changed(leaving.site->what);
	out = object_arguments(obj, &leaving);
	if (obj->status == 0 && out)
		object_result(obj, read_u64(out), leaving.site->what, leaving.layout);
	if (leaving.site->what == UB_OBJ_UCT_EP_CREATE)
		endpoint_over(leaving.task, obj->obj, leaving.now);
	lone_end(leaving.task, lone, leaving.now);
	return 0;
}

SPAN(object, object_enter, object_leave)

SEC("uprobe")
int object_end(struct pt_regs *ctx)
{
	struct lone_obj *lone;
	struct ub_obj *obj;
	struct hit hit;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	lone = lone_begin(hit.task);
	obj = &lone->obj;
	header_inside(&obj->h, &hit, UB_OBJ);
	obj->obj = PT_REGS_PARM1(ctx);
	endpoints_changed(hit.site->what);
	if (hit.site->what == UB_OBJ_UCT_EP_DESTROY)
		endpoint_over(hit.task, obj->obj, hit.ts);
	if (hit.site->what == UB_OBJ_UCP_EP_DESTROY)
		ep_forget_over(obj->h.tgid, obj->obj);
	if (hit.site->what == UB_OBJ_MEM_UNMAP)
		obj->obj = PT_REGS_PARM2(ctx);
	if (hit.site->what == UB_OBJ_UCP_EP_PEER) {
		obj->parent = PT_REGS_PARM1(ctx);
		obj->obj = PT_REGS_PARM2(ctx);
		obj->uuid = PT_REGS_PARM3(ctx);
	}
	lone_end(hit.task, lone, hit.ts);
	return 0;
}
