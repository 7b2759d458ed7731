// SPDX-License-Identifier: BSD-3-Clause
/*
 * The floor under every uprobe tracer: probes with nothing in them.
 *
 *   floor sites PID     the probes that process PID holds, a line each: OFFSET KIND COOKIE PATH
 *                       (KIND "span": a session, both ends; "entry": the entry only)
 *   floor attach FILE   empty programs at the sites of such lines, until stdin ends
 *   floor count FILE    programs that count entries; a line on stdin prints one count per site
 *   floor least FILE    the least that makes a record
 *
 * Sites come from the kernel's own list of a tracer's links, so that they are those of the tracer,
 * its learnt ones too. Prints "ready N" when N probes are in place. Needs Linux 6.13.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "floor.skel.h"
#include "observe/probe/links.h"
#include "observe/probe/links_kernel.h"

struct site {
	char path[512];
	struct link_probe probe;
};

typedef VEC(struct site) site_list;

/*
 * The kernel does not tell a session's links from others, but refuses to attach a program in
 * another way than it was loaded for. Nobody executes the byte tried: it is our own ELF header.
 */
static bool is_session(int id)
{
	static const uint64_t nothing;
	struct link_target header = { "/proc/self/exe", &nothing, &nothing, 1, 0 };
	int prog = bpf_prog_get_fd_by_id(id);
	int link = link_multi(prog, links_attach_type(LINK_SESSION, true), false, &header);

	close(prog);
	if (link >= 0)
		close(link);
	return link >= 0;
}

static void print_link(FILE *info)
{
	char line[1024], path[512] = "";
	uint64_t cookie, offset;
	bool session = false;
	int id;

	while (fgets(line, sizeof(line), info)) {
		if (sscanf(line, "prog_id: %d", &id) == 1)
			session = is_session(id);
		else if (sscanf(line, "path: %511[^\n]", path) == 1)
			continue;
		else if (*path && sscanf(line, "%" SCNu64 " %" SCNx64, &cookie, &offset) == 2)
			printf("%#" PRIx64 " %s %#" PRIx64 " %s\n", offset,
			       session ? "span" : "entry", cookie, path);
	}
}

static bool is_uprobe_link(FILE *info)
{
	char line[1024];
	bool found = false;

	while (!found && fgets(line, sizeof(line), info))
		found = !strcmp(line, "link_type:\tuprobe_multi\n");
	rewind(info);
	return found;
}

static int print_sites(const char *pid)
{
	char path[600];
	struct dirent *entry;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	fds = opendir(path);
	if (!fds) {
		fprintf(stderr, "floor: cannot read '%s': %s\n", path, strerror(errno));
		return 1;
	}
	while ((entry = readdir(fds))) {
		FILE *info;

		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		info = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (info && is_uprobe_link(info))
			print_link(info);
		if (info)
			fclose(info);
	}
	closedir(fds);
	return 0;
}

static int read_sites(const char *name, site_list *sites)
{
	FILE *file = fopen(name, "r");
	struct site site = { 0 };
	char kind[8];

	if (!file) {
		fprintf(stderr, "floor: cannot read '%s': %s\n", name, strerror(errno));
		return -errno;
	}
	while (fscanf(file, "%" SCNx64 " %7s %*s %511[^\n]", &site.probe.offset, kind, site.path) ==
	       3) {
		site.probe.cookie = sites->len;
		site.probe.kind = UB_CALL;
		site.probe.needs_return = !strcmp(kind, "span");
		vec_push(sites, site);
	}
	fclose(file);
	return 0;
}

/* Sites of one file stand together in the list. */
static int attach_all(struct links *links, const site_list *sites)
{
	struct link_probe *probes = calloc(sites->len + 1, sizeof(*probes));
	size_t placed = 0, refused;
	int err = probes ? 0 : -ENOMEM;

	for (size_t first = 0, next; !err && first < sites->len; first = next) {
		const char *path = sites->data[first].path;

		for (next = first; next < sites->len && !strcmp(sites->data[next].path, path);
		     next++)
			probes[next - first] = sites->data[next].probe;
		err = links_attach(links, path, probes, next - first, &refused);
		placed += next - first - refused;
	}
	free(probes);
	if (err)
		fprintf(stderr, "floor: cannot attach: %s\n", strerror(-err));
	else
		printf("ready %zu\n", placed);
	fflush(stdout);
	return err;
}

static void answer(const struct floor_bpf *skel, size_t count)
{
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		for (size_t i = 0; i < count && i < sizeof(skel->bss->hits) / 8; i++)
			printf("%" PRIu64 " ", (uint64_t)skel->bss->hits[i]);
		putchar('\n');
		fflush(stdout);
	}
}

/* What is placed, by the word on the command line; without a session: entries only. */
static const struct mode {
	const char *name, *entry, *session;
} modes[] = {
	{ "attach", "empty_entry", "empty_session" },
	{ "count", "count_entry", NULL },
	{ "least", "least_entry", "least_session" },
};

static int program_fd(const struct floor_bpf *skel, const char *name)
{
	return name ? bpf_program__fd(bpf_object__find_program_by_name(skel->obj, name)) : -1;
}

static int load(struct floor_bpf *skel)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		bool session = strstr(bpf_program__name(prog), "_session");

		bpf_program__set_expected_attach_type(prog,
						      links_attach_type(LINK_SESSION, session));
	}
	return floor_bpf__load(skel);
}

static int hold(const char *file, const struct mode *mode)
{
	struct link_programs programs;
	struct floor_bpf *skel = floor_bpf__open();
	struct links links;
	site_list sites = { 0 };
	int err = skel ? read_sites(file, &sites) : -ENOMEM;

	if (err)
		return 1;
	for (size_t i = 0; !mode->session && i < sites.len; i++)
		sites.data[i].probe.needs_return = false;
	err = load(skel);
	memset(&programs, -1, sizeof(programs));
	programs.entry_fd[UB_CALL] = program_fd(skel, mode->entry);
	programs.session_fd[UB_CALL] = program_fd(skel, mode->session);
	links_init(&links, LINK_SESSION, &programs);
	if (!err)
		err = attach_all(&links, &sites);
	if (!err)
		answer(skel, sites.len);
	links_release(&links);
	floor_bpf__destroy(skel);
	vec_release(&sites);
	return err != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sites"))
		return print_sites(argv[2]);
	for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			return hold(argv[2], &modes[i]);
	fprintf(stderr, "usage: floor sites PID | attach FILE | count FILE | least FILE\n");
	return 2;
}
