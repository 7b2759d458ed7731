/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps a file's code as a loader would, and runs none of it. */
#ifndef UCXBPF_TRUST_MAP_TEXT_H
#define UCXBPF_TRUST_MAP_TEXT_H

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_BYTES (256 << 10)
#define PAGE_MASK_OFF 4095ul

/* Where the first executable segment begins; 0 where the file is no ELF file that has one. */
static off_t text_offset(int fd)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return 0;
	for (int i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + (size_t)i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return 0;
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
			return (off_t)(segment.p_offset & ~PAGE_MASK_OFF);
	}
	return 0;
}

/* at: over the mapping there, NULL: anywhere. offset < 0: of the first executable segment. Ends the
 * program where it fails. */
static void *map_text(const char *path, void *at, off_t offset)
{
	int fd = open(path, O_RDONLY);
	void *got = MAP_FAILED;

	if (fd >= 0)
		got = mmap(at, TEXT_BYTES, PROT_READ | PROT_EXEC,
			   MAP_PRIVATE | (at ? MAP_FIXED : 0), fd,
			   offset < 0 ? text_offset(fd) : offset);
	if (got == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	return got;
}

#endif
