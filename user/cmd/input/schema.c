// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/schema.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const schemas[] = { "inventory", "ledger", "evidence", "plan" };

static const char *skip(const char *at, const char *wanted)
{
	at += strspn(at, " \t\r\n");
	return strncmp(at, wanted, strlen(wanted)) ? NULL : at + strlen(wanted);
}

static const char *named(const char *text)
{
	static const char *const parts[] = { "{", "\"schema\"", ":", "\"ucxbpf." };

	for (size_t i = 0; text && i < sizeof(parts) / sizeof(*parts); i++)
		text = skip(text, parts[i]);
	for (size_t i = 0; text && i < sizeof(schemas) / sizeof(*schemas); i++) {
		size_t length = strlen(schemas[i]);

		if (!strncmp(text, schemas[i], length) && text[length] == '/')
			return schemas[i];
	}
	return NULL;
}

const char *evidence_schema(const char *path)
{
	char text[256] = { 0 };
	struct stat file;
	FILE *in;

	/* a pipe would lose what is read here */
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return NULL;
	in = fopen(path, "re");
	if (!in)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return named(text);
}
