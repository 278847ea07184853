#include <fmt/format.h>

#include "explain_parts.hpp"
#include "titer/estimate/e7.hpp"

namespace titer {

Section e7_section(const Scenario& scenario) {
  const E7Terms e7 = e7_terms(scenario);
  const std::string m = fmt::format("{}", e7.micro_batches);
  Section section{.title = "seeds E7: T_iter = T_comp + T_TP + T_PP + T_DP + T_bubble",
                  .terms = {}};
  section.terms = {
      {"FLOP_mb",
       "8 N/(p t) b s",
       fmt::format("8 x {} / ({} x {}) x {} x {}",
                   e7.parameters,
                   scenario.plan.pipeline,
                   scenario.plan.tensor,
                   scenario.plan.micro_batch,
                   scenario.training.sequence),
       format(e7.micro_batch_flops),
       "E7a; 8 N counts full recomputation"},
      {"T_comp",
       "m FLOP_mb / (u F)",
       fmt::format(
           "{} x {} / ({} x {})", m, format(e7.micro_batch_flops), e7.utilization, format(e7.peak)),
       format(e7.compute),
       "E7a"},
      {"T_TP",
       "m (l/p) 4 (2 b s h) (2 (t-1)/t) 3/2 / C_TP",
       fmt::format("C_TP = {}", format(e7.tensor_bandwidth)),
       format(e7.tensor),
       "missing in the seed (trap T1): Shoeybi et al. 2019, with full recomputation"},
      {"T_PP",
       "m (2 x 2 b s h) / C_PP",
       fmt::format("C_PP = {}", format(e7.pipeline_bandwidth)),
       format(e7.pipeline),
       "E7b"},
      {"T_DP",
       "2 N/(p t) (2 (d-1)/d) / C_DP",
       fmt::format("C_DP = {}", format(e7.data_bandwidth)),
       format(e7.data),
       "E6"},
      {"T_bubble",
       "(p-1) (T_comp + T_TP + T_PP of one micro-batch)",
       fmt::format("({} - 1) x ({} + {} + {}) / {}",
                   scenario.plan.pipeline,
                   format(e7.compute),
                   format(e7.tensor),
                   format(e7.pipeline),
                   m),
       format(e7.bubble),
       "E8"},
      {"T_iter", "sum", "", format(e7.iteration()), "E7"},
      {"R_bubble", "T_bubble / T_iter", "", fmt::format("{:.4f}", e7.bubble_ratio()), "E8"},
      {"R_comm",
       "(T_TP + T_PP + T_DP) / T_iter",
       "",
       fmt::format("{:.4f}", e7.communication_ratio()),
       "E9"}};
  return section;
}

}  // namespace titer
