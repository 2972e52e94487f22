package io.github.orbgate;

import java.util.OptionalLong;

/**
 * What an allowed call consumes.
 *
 * @param consumes whether the call consumes the user's orbs
 * @param amount how many; empty if the policy states no amount, so that the service must supply it
 * @param bonusAllowed whether bonus orbs may be used: the call consumes orbs and its request allows
 * them
 */
public record Charge(boolean consumes, OptionalLong amount, boolean bonusAllowed) {}
