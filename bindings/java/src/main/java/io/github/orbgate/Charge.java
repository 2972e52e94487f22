package io.github.orbgate;

import java.util.OptionalLong;

/**
 * What an allowed call consumes.
 *
 * @param consumes whether the call consumes the user's orbs
 * @param amount how many; none where the policy states none: the service that charges must supply it
 * @param bonusAllowed whether bonus orbs may be used: the call consumes orbs and its request allows it
 */
public record Charge(boolean consumes, OptionalLong amount, boolean bonusAllowed) {}
