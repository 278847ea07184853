#include "titer/model/model_schema.hpp"

#include "model_files.hpp"
#include "titer/input/schema.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {

Value model_schema() {
  return schema::either({transformer_schema(), layered_schema(), dlrm_schema()});
}

}  // namespace titer
