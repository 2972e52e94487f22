// A second unit with the same header, included twice: nothing is defined twice.
#include "orbgate.hpp"
#include "orbgate.hpp"

bool second_unit_allows(const orbgate::Decision &decision);

bool second_unit_allows(const orbgate::Decision &decision) { return decision.is_allow(); }
