/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The lives of workers, ifaces and endpoints: rare, so clarity before speed. */
#define QUIET_FROM UB_STOP
#include "span.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* uct_iface_params_t, uct_ep_params_t, ucp_ep_params_t: public ABI (uct.h, ucp.h; 1.13 to 1.18) */
#define IFACE_PARAMS_OPEN_MODE 136
#define IFACE_PARAMS_TL_NAME 144
#define IFACE_PARAMS_DEV_NAME 152
#define UCT_IFACE_OPEN_MODE_DEVICE 1
#define UCT_EP_PARAMS_IFACE 8
#define UCP_EP_PARAMS_ADDRESS 8
#define UCP_EP_PARAM_FIELD_REMOTE_ADDRESS 1
#define PACKED_ADDRESS_UUID 1 /* behind one header byte (src/ucp/wireup/address.c, version 1) */

static __always_inline void read_name(char *name, __u32 size, __u64 at)
{
	bpf_probe_read_user_str(name, size, (void *)read_u64(at));
}

static __always_inline void iface_names(struct ub_obj *obj, __u64 params)
{
	if ((read_u64(params + IFACE_PARAMS_OPEN_MODE) & UCT_IFACE_OPEN_MODE_DEVICE) == 0)
		return;
	read_name(obj->tl_name, sizeof(obj->tl_name), params + IFACE_PARAMS_TL_NAME);
	read_name(obj->dev_name, sizeof(obj->dev_name), params + IFACE_PARAMS_DEV_NAME);
}

/* Creations hand their result to the caller through a pointer: remember where. */
static __always_inline int object_enter(struct pt_regs *ctx)
{
	struct frame *frame;
	struct ub_obj *obj;
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 1;
	hit_args(&hit, ctx);
	frame = frame_push(&hit, UB_OBJ, true);
	if (!frame)
		return 1;
	obj = &frame->obj;
	obj->h.seq = 0;
	switch (hit.site->what) {
	case UB_OBJ_IFACE_OPEN:
		iface_names(obj, hit.args[3]);
		frame->out = hit.args[5];
		break;
	case UB_OBJ_UCT_EP_CREATE:
		obj->parent = read_u64(hit.args[1] + UCT_EP_PARAMS_IFACE);
		frame->out = hit.args[2];
		break;
	case UB_OBJ_UCP_EP_CREATE:
		obj->parent = hit.args[1];
		if (read_u64(hit.args[2]) & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS)
			obj->uuid = read_u64(read_u64(hit.args[2] + UCP_EP_PARAMS_ADDRESS) +
					     PACKED_ADDRESS_UUID);
		frame->out = hit.args[3];
		break;
	case UB_OBJ_WORKER_CREATE:
		frame->out = hit.args[3];
		break;
	case UB_OBJ_WORKER_ADDRESS:
		obj->obj = hit.args[1];
		frame->out = hit.args[2];
		break;
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
}

static __always_inline int object_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	struct ub_obj *obj;

	if (!leave_begin(&leaving, ctx))
		return 0;
	obj = &leaving.frame->obj;
	obj->status = (__s8)PT_REGS_RC(ctx);
	if (obj->status == 0 && leaving.frame->out)
		object_result(obj, read_u64(leaving.frame->out), leaving.site->what,
			      leaving.layout);
	emit(obj);
	return 0;
}

SPAN(object, object_enter, object_leave)

SEC("uprobe")
int object_end(struct pt_regs *ctx)
{
	struct ub_obj obj = {};
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 0;
	hit_args(&hit, ctx);
	header_init(&obj.h, &hit, frame_top(hit.task, hit.sp), UB_OBJ);
	obj.obj = hit.args[1];
	if (hit.site->what == UB_OBJ_UCP_EP_PEER) {
		obj.parent = hit.args[1];
		obj.obj = hit.args[2];
		obj.uuid = hit.args[3];
	}
	emit(&obj);
	return 0;
}
