// <mpi.h> for a library that is also loaded into programs without MPI: mpirun itself, a shell.
#pragma once

#include <mpi.h>

// Such a program has none of MPI's objects; weak, they do not keep it from starting.
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_request_null
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_packed
#pragma weak ompi_mpi_info_null
#pragma weak ompi_message_null
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_op_prod
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_land
#pragma weak ompi_mpi_op_band
#pragma weak ompi_mpi_op_lor
#pragma weak ompi_mpi_op_bor
#pragma weak ompi_mpi_op_lxor
#pragma weak ompi_mpi_op_bxor
#pragma weak ompi_mpi_op_maxloc
#pragma weak ompi_mpi_op_minloc
#endif

// The wrappers are all that the library shows; the address of the caller is taken where the caller called.
#define WATCHED extern "C" __attribute__((visibility("default"))) int
#define CALL_SITE reinterpret_cast<std::uint64_t>(__builtin_return_address(0))
