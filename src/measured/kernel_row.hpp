#pragma once
// Rows of measured kernels: the kernels that each of them timed.

#include "titer/input/csv.hpp"
#include "titer/measured/measured_kernel.hpp"

namespace titer {

/// Puts the row into those of the table, of the kind that the table is, or says why it is skipped.
void read_kernel_row(const CsvTable& rows,
                     std::size_t number,
                     KernelTable& table,
                     Problems& problems);

}  // namespace titer
