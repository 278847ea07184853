#pragma once
// Parts of MaxText's files.

#include "import/import_parts.hpp"

namespace titer {

/// What remat_policy computes again, and keeps on the host.
void put_remat_policy(const ImportTask& task);

}  // namespace titer
