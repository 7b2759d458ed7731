/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The part of the wire contract about memory that GPU libraries make; included by ucxbpf.h. */
#ifndef UCXBPF_MEMORY_H
#define UCXBPF_MEMORY_H

/* Action of a memory site, with its arguments in brackets. out: where the result is stored. */
enum ub_mem_what {
	UB_MEM_NONE = 0,
	UB_MEM_ALLOC = 1, /* (out address, size): on the current context's device */
	UB_MEM_ALLOC_STREAM = 2, /* (out address, size, stream) */
	UB_MEM_ALLOC_POOL = 3, /* (out address, size, pool, stream) */
	UB_MEM_ALLOC_PITCH = 4, /* (out address, out pitch, width, height): size = pitch * height */
	UB_MEM_ALLOC_MANAGED = 5, /* (out address, size) */
	UB_MEM_ALLOC_HOST = 6, /* (out address, size): pinned host memory */
	UB_MEM_REGISTER_HOST = 7, /* (address, size) */
	UB_MEM_FREE = 8, /* (address): of any of the above, or imported */
	UB_MEM_CREATE = 9, /* (out handle, size, properties): physical memory on a device */
	UB_MEM_RELEASE = 10, /* (handle) */
	UB_MEM_MAP = 11, /* (address, size, offset, handle) */
	UB_MEM_UNMAP = 12, /* (address, size): of all mappings in there */
	UB_MEM_IMPORT = 13, /* (out address, handle by value): size not told */
	UB_MEM_IMPORT_HANDLE = 14, /* (out handle): physical memory of another process */
	UB_MEM_IMPORT_POOL = 15, /* (out address, pool) */
	UB_MEM_CTX_RETAIN = 16, /* (out context, device) */
	UB_MEM_CTX_CREATE = 17, /* (out context, flags, device) */
	UB_MEM_CTX_SET = 18, /* (context): current from now on */
	UB_MEM_CTX_PUSH = 19, /* (context) */
	UB_MEM_CTX_POP = 20,
	UB_MEM_STREAM_CREATE = 21, /* (out stream): of the current context */
	UB_MEM_POOL_CREATE = 22, /* (out pool, properties or device) */
	UB_MEM_CTX_DESTROY = 23, /* (context): with all that was made in it */
	UB_MEM_CTX_RELEASE = 24, /* (device): its primary context is held once less */
	UB_MEM_CTX_RESET = 25, /* (device): its primary context begins anew */
	UB_MEM_STREAM_DESTROY = 26, /* (stream) */
	UB_MEM_POOL_DESTROY = 27, /* (pool): its allocations stay */
	UB_MEM_EXPORT = 28, /* (out handle of 64 bytes, address) */
	UB_MEM_RUNTIME = 29, /* a runtime's function: makes no record, see ub_mem.runtime */
	UB_MEM_ALLOC_ON = 30, /* (out address, size, handle of a device) */
	UB_MEM_DEVICE_SET = 31, /* (device): the thread's current one */
	UB_MEM_DEVICES = 32, /* (driver, out count, out handles): a record per handle */
	UB_MEM_RETAIN = 33, /* (out handle, address): physical memory, to be released once more */
};

/* ub_mem.device if it is no device number. */
#define UB_DEVICE_NOT_TOLD (-1)
#define UB_DEVICE_HOST (-2) /* the properties say: pinned memory of the host */
#define UB_DEVICE_MANAGED (-3) /* ... managed memory */

/* Allocations hold from h.ts (return); frees take effect at h.ts (entry). */
struct ub_mem {
	struct ub_hdr h;
	__u64 address; /* as made, or as given */
	__u64 size; /* bytes; 0 = not told */
	__u64 handle; /* context, stream, pool, physical memory, device: as made, or as given;
			 export, import: ub_handle_hash() */
	__s32 device; /* the library's own number, or one of the above */
	__s32 status; /* as returned, 0 = done */
	__u32 runtime; /* site row of the runtime's function that called this one, 0 = none */
	__u32 pad;
};

#define UB_HANDLE_WORDS 8 /* CUipcMemHandle, hipIpcMemHandle_t: 64 bytes */

/* Identifies a handle that one process gives to another: FNV-1a over words of 8 bytes. */
static inline __u64 ub_handle_hash(const __u64 *words)
{
	__u64 hash = 0xcbf29ce484222325;

	for (int i = 0; i < UB_HANDLE_WORDS; i++)
		hash = (hash ^ words[i]) * 0x100000001b3;
	return hash;
}

_Static_assert(sizeof(struct ub_mem) == 88, "wire mem size");

#endif
