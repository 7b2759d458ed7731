// SPDX-License-Identifier: BSD-3-Clause
/*
 * dl_unserved: has Open MPI and UCX mapped, and nobody serves the page with MPI_COMM_WORLD, which a
 * tracer reads. Prints "ready", or why it cannot be done here, and waits.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul

static int unserved(void *page, size_t size)
{
	struct uffdio_register all = { .range = { (uintptr_t)page, size },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return -errno;
	return ioctl(fd, UFFDIO_REGISTER, &all) ? -errno : 0;
}

int main(void)
{
	void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
	void *ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_GLOBAL);
	void *world = mpi ? dlsym(mpi, "ompi_mpi_comm_world") : NULL;
	int err = -ENOENT;

	if (ucp && world)
		err = unserved((void *)((uintptr_t)world & ~(PAGE - 1)), 2 * PAGE);
	puts(err ? strerror(-err) : "ready");
	fflush(stdout);
	pause();
	return 0;
}
