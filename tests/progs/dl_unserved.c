// SPDX-License-Identifier: BSD-3-Clause
/*
 * dl_unserved [FILE]: has Open MPI and UCX mapped, and nobody serves the page with MPI_COMM_WORLD,
 * which a tracer reads, or only who serves FILE, the first page of which is read here. Prints
 * "ready", or why it cannot be done here, and waits.
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
#define AHEAD (4ul << 20) /* more than the first read brings */

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

static int served_by(const char *path, void *page, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char first;

	if (fd < 0 || pread(fd, &first, 1, 0) != 1)
		return -errno;
	/* without readahead, which would ask for pages that nobody has touched */
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	return mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, AHEAD) ==
			       MAP_FAILED
		       ? -errno
		       : 0;
}

int main(int argc, char **argv)
{
	void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
	void *ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_GLOBAL);
	void *world = mpi ? dlsym(mpi, "ompi_mpi_comm_world") : NULL;
	int err = -ENOENT;

	if (ucp && world) {
		void *page = (void *)((uintptr_t)world & ~(PAGE - 1));

		err = argc > 1 ? served_by(argv[1], page, 2 * PAGE) : unserved(page, 2 * PAGE);
	}
	puts(err ? strerror(-err) : "ready");
	fflush(stdout);
	pause();
	return 0;
}
