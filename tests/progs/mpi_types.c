// SPDX-License-Identifier: BSD-3-Clause
/* Derived datatypes: vector to vector, vector to contiguous, struct; eager and rendezvous. */
#include <stddef.h>

#include "mpi_common.h"

#define ROUNDS 5

static const int rows[] = { 1, 13, 127, 1021, 8191 };
#define SIZES ((int)(sizeof(rows) / sizeof(rows[0])))
#define STRIDE 3
#define MAX_VALUES (8191 * STRIDE)

/* One column of a matrix with STRIDE columns. */
static MPI_Datatype column(int count)
{
	MPI_Datatype type;

	MPI_Type_vector(count, 1, STRIDE, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	return type;
}

static void transfer(double *matrix, int count, int from, bool packed_receive)
{
	MPI_Datatype type = column(count);
	int i;

	if (rank == from) {
		for (i = 0; i < count; i++)
			matrix[i * STRIDE] = i + 0.5;
		truth_message("MPI_Send", !from, count * sizeof(double));
		T(MPI_Send)(matrix, 1, type, !from, count, MPI_COMM_WORLD);
	} else if (packed_receive) {
		T(MPI_Recv)
		(matrix, count, MPI_DOUBLE, from, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (i = 0; i < count; i++)
			EXPECT(matrix[i] == i + 0.5);
		truth_data(matrix, count * sizeof(double));
	} else {
		T(MPI_Recv)(matrix, 1, type, from, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (i = 0; i < count; i++)
			EXPECT(matrix[i * STRIDE] == i + 0.5);
	}
	MPI_Type_free(&type);
}

struct record {
	char letter;
	double value;
	int number;
};

static MPI_Datatype record_type(void)
{
	int lengths[] = { 1, 1, 1 };
	MPI_Aint offsets[] = { offsetof(struct record, letter), offsetof(struct record, value),
			       offsetof(struct record, number) };
	MPI_Datatype parts[] = { MPI_CHAR, MPI_DOUBLE, MPI_INT }, plain, type;

	MPI_Type_create_struct(3, lengths, offsets, parts, &plain);
	MPI_Type_create_resized(plain, 0, sizeof(struct record), &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&plain);
	return type;
}

static void records(int count)
{
	struct record *records = calloc(count, sizeof(*records));
	MPI_Datatype type = record_type();

	if (rank == 0) {
		records[count - 1] = (struct record){ 'z', 2.5, 29 };
		truth_message("MPI_Send", 1, 13ull * count);
		T(MPI_Send)(records, count, type, 1, 2, MPI_COMM_WORLD);
	} else {
		T(MPI_Recv)(records, count, type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		EXPECT(records[count - 1].letter == 'z' && records[count - 1].number == 29);
	}
	MPI_Type_free(&type);
	free(records);
}

int main(int argc, char **argv)
{
	double *matrix = calloc(MAX_VALUES, sizeof(*matrix));
	int round, i;

	job_start("mpi_types", &argc, &argv);
	EXPECT(size == 2);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < SIZES; i++)
			transfer(matrix, rows[i], round % 2, round > 2);
	records(7);
	records(10007);
	free(matrix);
	return job_end();
}
