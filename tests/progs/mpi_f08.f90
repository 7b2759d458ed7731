! SPDX-License-Identifier: BSD-3-Clause
! Fortran by mpi_f08: blocking, non-blocking and persistent sends, collectives, a second communicator.
! The ledger is as truth.h writes it; $TRUTH/RANK.sites has a line for each place of a call: how often,
! MPI function, subroutine, line. With an argument, so many seconds pass after MPI_Init.

! T(MPI_Wait)(request, status) makes the call and counts it. Compiled with -cpp, as old as it is:
! it replaces names within strings.
#define T(function) call called("function", __func, __LINE__); call function

module f08
  use mpi_f08
  use iso_fortran_env, only: int64
  implicit none
  integer, parameter :: rounds = 17, most = 64, elements = 20011
  integer, parameter :: sizes(3) = [1, 1013, elements]
  integer :: rank, ranks, peer
  integer, asynchronous :: in(elements), out(elements)

  type row
    character(32) :: name, place
    integer :: dst, line, count
    integer(int64) :: bytes
  end type
  type(row) :: calls(most), messages(most), places(most)
  integer :: call_rows = 0, message_rows = 0, place_rows = 0

contains

  subroutine add(table, rows, new)
    type(row), intent(inout) :: table(most)
    integer, intent(inout) :: rows
    type(row), intent(in) :: new
    integer :: i

    do i = 1, rows
      if (table(i)%name == new%name .and. table(i)%place == new%place .and. &
          table(i)%dst == new%dst .and. table(i)%line == new%line) exit
    end do
    if (i > rows) then
      if (i > most) error stop 2
      rows = i
      table(i) = new
      return
    end if
    table(i)%count = table(i)%count + 1
    table(i)%bytes = table(i)%bytes + new%bytes
  end subroutine

  subroutine called(name, place, line)
    character(*), intent(in) :: name, place
    integer, intent(in) :: line

    call add(calls, call_rows, row(name, "", -1, 0, 1, 0))
    call add(places, place_rows, row(name, place, -1, line, 1, 0))
  end subroutine

  subroutine message(name, count)
    character(*), intent(in) :: name
    integer, intent(in) :: count

    call add(messages, message_rows, row(name, "", peer, 0, 1, 4_int64 * count))
  end subroutine

  subroutine expect(condition)
    logical, intent(in) :: condition

    if (.not. condition) call MPI_Abort(MPI_COMM_WORLD, 3)
  end subroutine

  function opened(suffix) result(unit)
    character(*), intent(in) :: suffix
    character(4096) :: folder
    character(16) :: number
    integer :: unit

    call get_environment_variable("TRUTH", folder)
    write (number, "(i0)") rank
    unit = 0
    if (folder /= "") open (newunit=unit, file=trim(folder) // "/" // trim(number) // "." // suffix, action="write")
  end function

  subroutine write_rows(unit, key, table, used)
    integer, intent(in) :: unit, used
    character(*), intent(in) :: key
    type(row), intent(in) :: table(most)
    integer :: i

    write (unit, "(3a)") ',"', key, '":['
    do i = 1, used
      write (unit, "(4a, i0, a, i0, a, i0, a)") trim(merge(",", " ", i > 1)), '{"name":"', trim(table(i)%name), &
        '","dst":', table(i)%dst, ',"count":', table(i)%count, ',"bytes":', table(i)%bytes, "}"
    end do
    write (unit, "(a)") "]"
  end subroutine

  subroutine write_ledger()
    integer :: unit, i

    unit = opened("json")
    if (unit == 0) return
    write (unit, "(a, i0, a, i0, a, i0)") '{"program":"mpi_f08","rank":', rank, ',"size":', ranks, ',"pid":', getpid()
    call write_rows(unit, "calls", calls, call_rows)
    call write_rows(unit, "messages", messages, message_rows)
    write (unit, "(a)") ',"ops":[],"unmatched_receives":0}'
    close (unit)
    unit = opened("sites")
    do i = 1, place_rows
      write (unit, "(i0, 4a, 1x, i0)") places(i)%count, " ", trim(places(i)%name), " ", trim(places(i)%place), places(i)%line
    end do
    close (unit)
  end subroutine

#define __func "blocking"
  subroutine blocking(count, tag)
    integer, intent(in) :: count, tag

    out = rank * 1000 + tag
    if (rank == 0) then
      call message("MPI_Send", count)
      T(MPI_Send)(out, count, MPI_INTEGER, peer, tag, MPI_COMM_WORLD)
      T(MPI_Recv)(in, count, MPI_INTEGER, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    else
      T(MPI_Recv)(in, count, MPI_INTEGER, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call message("MPI_Ssend", count)
      T(MPI_Ssend)(out, count, MPI_INTEGER, peer, tag, MPI_COMM_WORLD)
    end if
    call expect(all(in(:count) == peer * 1000 + tag))
  end subroutine
#undef __func

#define __func "non_blocking"
  subroutine non_blocking(count, tag, comm)
    integer, intent(in) :: count, tag
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request) :: requests(2)

    out = rank * 2000 + tag
    T(MPI_Irecv)(in, count, MPI_INTEGER, peer, tag, comm, requests(1))
    call message("MPI_Isend", count)
    T(MPI_Isend)(out, count, MPI_INTEGER, peer, tag, comm, requests(2))
    T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE)
    call expect(all(in(:count) == peer * 2000 + tag))
  end subroutine
#undef __func

#define __func "persistent"
  subroutine persistent(count)
    integer, intent(in) :: count
    type(MPI_Request) :: requests(2)
    integer :: i

    T(MPI_Recv_init)(in, count, MPI_INTEGER, peer, 5, MPI_COMM_WORLD, requests(1))
    T(MPI_Send_init)(out, count, MPI_INTEGER, peer, 5, MPI_COMM_WORLD, requests(2))
    do i = 1, rounds
      out = rank * 3000 + i
      T(MPI_Start)(requests(1))
      call message("MPI_Start", count)
      T(MPI_Start)(requests(2))
      T(MPI_Wait)(requests(1), MPI_STATUS_IGNORE)
      T(MPI_Wait)(requests(2), MPI_STATUS_IGNORE)
      call expect(all(in(:count) == peer * 3000 + i))
    end do
    T(MPI_Request_free)(requests(1))
    T(MPI_Request_free)(requests(2))
  end subroutine
#undef __func

#define __func "collective"
  subroutine collective(count, comm)
    integer, intent(in) :: count
    type(MPI_Comm), intent(in) :: comm

    out = rank
    T(MPI_Allreduce)(out, in, count, MPI_INTEGER, MPI_SUM, comm)
    call expect(all(in(:count) == 1))
    T(MPI_Bcast)(in, count, MPI_INTEGER, 0, comm)
    T(MPI_Barrier)(comm)
  end subroutine
#undef __func
end module

#define __func "MAIN__"
program mpi_f08_calls
  use f08
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(C)
      use iso_c_binding, only: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  type(MPI_Comm) :: copy
  character(8) :: pause
  integer :: i, k, seconds, status, unit

  T(MPI_Init)()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call expect(ranks == 2)
  peer = 1 - rank
  unit = opened("pid")
  if (unit /= 0) write (unit, "(i0)") getpid()
  if (unit /= 0) close (unit)
  call get_command_argument(1, pause)
  read (pause, *, iostat=status) seconds
  if (status == 0) call sleep(seconds)
  T(MPI_Comm_dup)(MPI_COMM_WORLD, copy)
  do i = 1, rounds
    do k = 1, 3
      call blocking(sizes(k), i)
      call non_blocking(sizes(k), i, copy)
    end do
  end do
  call persistent(1013)
  call collective(1013, copy)
  T(MPI_Comm_free)(copy)
  T(MPI_Barrier)(MPI_COMM_WORLD)
  ! as all_owe_answers() of mpi_common.h
  T(MPI_Alltoall)(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD)
  status = usleep(50000)
  call called("MPI_Finalize", __func, __LINE__ + 2)
  call write_ledger()
  call MPI_Finalize()
end program
