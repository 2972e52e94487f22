/* A second unit with the same headers, included twice: nothing is defined twice. */
#include "orbgate_gate.h"
#include "orbgate.h"
#include "orbgate_gate.h"

bool second_unit_sees_the_same(const OrbgateDecision *decision, uint64_t packed);

bool second_unit_sees_the_same(const OrbgateDecision *decision, uint64_t packed)
{
    return orbgate_decision_is_allow(decision) == orbgate_packed_is_allow(packed);
}
