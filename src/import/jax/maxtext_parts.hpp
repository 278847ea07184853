#pragma once
// Parts of MaxText's files.

#include "import/import_parts.hpp"

namespace titer {

/// By its name, or by what the file changes of the model of configs/base.yml.
void put_maxtext_model(const ImportTask& task);

/// What remat_policy computes again, and keeps on the host.
void put_remat_policy(const ImportTask& task);

}  // namespace titer
