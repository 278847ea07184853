#pragma once
// The schedules that have a name, in the order in which they are listed.

#include <array>

#include "titer/plan/schedule/schedule.hpp"

namespace titer {

extern const ScheduleEntry kSequential;
extern const ScheduleEntry kGPipe;
extern const ScheduleEntry kOneForwardOneBackward;
extern const ScheduleEntry kBreadthFirst;
extern const ScheduleEntry kZeroBubbleH1;
extern const ScheduleEntry kZeroBubbleH2;
extern const ScheduleEntry kZeroBubbleV;
extern const ScheduleEntry kVHalf;
extern const ScheduleEntry kVMin;
extern const ScheduleEntry kDualPipe;
extern const ScheduleEntry kDualPipeV;
extern const ScheduleEntry kChimera;
extern const ScheduleEntry kHanayo;

inline constexpr std::array kSchedules = {&kSequential,
                                          &kGPipe,
                                          &kOneForwardOneBackward,
                                          &kBreadthFirst,
                                          &kZeroBubbleH1,
                                          &kZeroBubbleH2,
                                          &kZeroBubbleV,
                                          &kVHalf,
                                          &kVMin,
                                          &kDualPipe,
                                          &kDualPipeV,
                                          &kChimera,
                                          &kHanayo};

}  // namespace titer
