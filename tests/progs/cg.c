// SPDX-License-Identifier: BSD-3-Clause
/*
 * cg [GRID [SECONDS]]: conjugate gradients on the 5-point Laplacian of a GRID x GRID square, rows
 * spread over the ranks: per iteration two halo rows by Isend/Irecv/Waitall and two Allreduce of
 * one double. Solves again until SECONDS have passed (0: once); every solution must come out the
 * same.
 */
#include <math.h>

#include "mpi_common.h"

#define TOLERANCE 1e-8

struct domain {
	int grid, rows; /* own rows */
	int up, down; /* neighbours, MPI_PROC_NULL at the rim */
};

/* Vectors have one halo row above and one below. */
static double *row_of(const struct domain *domain, double *vector, int row)
{
	return vector + (size_t)(row + 1) * domain->grid;
}

static void *vector_new(const struct domain *domain)
{
	void *vector = calloc((size_t)(domain->rows + 2) * domain->grid, sizeof(double));

	EXPECT(vector);
	return vector;
}

static void send_halo(const struct domain *domain, double *row, int to, int tag,
		      MPI_Request *request)
{
	if (to != MPI_PROC_NULL)
		truth_message("MPI_Isend", to, domain->grid * sizeof(double));
	T(MPI_Isend)(row, domain->grid, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, request);
}

static void exchange_halo(const struct domain *domain, double *vector)
{
	MPI_Request requests[4];

	T(MPI_Irecv)
	(row_of(domain, vector, -1), domain->grid, MPI_DOUBLE, domain->up, 1, MPI_COMM_WORLD,
	 &requests[0]);
	T(MPI_Irecv)
	(row_of(domain, vector, domain->rows), domain->grid, MPI_DOUBLE, domain->down, 2,
	 MPI_COMM_WORLD, &requests[1]);
	send_halo(domain, row_of(domain, vector, domain->rows - 1), domain->down, 1, &requests[2]);
	send_halo(domain, row_of(domain, vector, 0), domain->up, 2, &requests[3]);
	T(MPI_Waitall)(4, requests, MPI_STATUSES_IGNORE);
}

static void laplacian(const struct domain *domain, double *in, double *out)
{
	int row, column, last = domain->grid - 1;

	exchange_halo(domain, in);
	for (row = 0; row < domain->rows; row++) {
		const double *here = row_of(domain, in, row), *above = here - domain->grid,
			     *below = here + domain->grid;
		double *result = row_of(domain, out, row);

		for (column = 0; column <= last; column++)
			result[column] = 4 * here[column] - above[column] - below[column] -
					 (column ? here[column - 1] : 0) -
					 (column < last ? here[column + 1] : 0);
	}
}

static double dot(const struct domain *domain, double *a, double *b)
{
	size_t i, count = (size_t)domain->rows * domain->grid;
	double own = 0, sum;

	a = row_of(domain, a, 0);
	b = row_of(domain, b, 0);
	for (i = 0; i < count; i++)
		own += a[i] * b[i];
	T(MPI_Allreduce)(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

/* to = a * x + b * to over the own rows. */
static void combine(const struct domain *domain, double *to, double b, double *x, double a)
{
	size_t i, count = (size_t)domain->rows * domain->grid;

	to = row_of(domain, to, 0);
	x = row_of(domain, x, 0);
	for (i = 0; i < count; i++)
		to[i] = a * x[i] + b * to[i];
}

/* Right-hand side 1 everywhere, first guess 0. Returns the number of iterations. */
static int solve(const struct domain *domain, double *x, double *residual)
{
	double *r = vector_new(domain), *p = vector_new(domain), *q = vector_new(domain);
	double rr, rr_start, rr_old, step;
	size_t i, count = (size_t)domain->rows * domain->grid;
	int iterations = 0;

	for (i = 0; i < count; i++)
		row_of(domain, r, 0)[i] = row_of(domain, p, 0)[i] = 1;
	rr = rr_start = dot(domain, r, r);
	while (sqrt(rr / rr_start) > TOLERANCE) {
		laplacian(domain, p, q);
		step = rr / dot(domain, p, q);
		combine(domain, x, 1, p, step);
		combine(domain, r, 1, q, -step);
		rr_old = rr;
		rr = dot(domain, r, r);
		combine(domain, p, rr / rr_old, r, 1);
		iterations++;
	}
	*residual = sqrt(rr / rr_start);
	free(r);
	free(p);
	free(q);
	return iterations;
}

static bool time_left(double end)
{
	int left = rank == 0 && MPI_Wtime() < end;

	T(MPI_Bcast)(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return left;
}

int main(int argc, char **argv)
{
	struct domain domain = { .grid = argc > 1 ? atoi(argv[1]) : 400 };
	double seconds = argc > 2 ? atof(argv[2]) : 0, residual, first = 0, end;
	int solutions = 0, iterations;
	double *x;

	job_start("cg", &argc, &argv);
	domain.rows = domain.grid / size + (rank < domain.grid % size);
	domain.up = rank ? rank - 1 : MPI_PROC_NULL;
	domain.down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	EXPECT(domain.rows > 0);
	end = MPI_Wtime() + seconds;
	do {
		x = vector_new(&domain);
		iterations = solve(&domain, x, &residual);
		truth_data(x, (size_t)(domain.rows + 2) * domain.grid * sizeof(*x));
		free(x);
		first = solutions++ ? first : residual;
		EXPECT(residual == first);
	} while (time_left(end));
	if (rank == 0)
		printf("cg: grid %d, %d ranks, %d solutions of %d iterations, residual %.17g\n",
		       domain.grid, size, solutions, iterations, residual);
	return job_end();
}
