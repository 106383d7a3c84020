import { modelled } from './model.mjs';
import { ALLOWED_DEVIATION, EXPONENTS, LIFETIMES, SMALL_FLEET } from './scenarios.mjs';
import { simulated } from './simulation.mjs';

/**
 * Repeated look-ups are rare. Below this number per second, random variation alone exceeds the allowed
 * deviation.
 */
const LEAST_COUNTED = 50;

/**
 * Compares formula and simulation for the small fleet, in each mix, lifetime and balancing. A lifetime of 0
 * is a fleet without a cache.
 */
export function validate() {
  const fleets = EXPONENTS.flatMap((exponent) =>
    [0, ...LIFETIMES].flatMap((ttl) =>
      ['random', 'sticky'].map((balancing) => ({ ...SMALL_FLEET, exponent, ttl, balancing })),
    ),
  );
  return fleets.map((fleet) => {
    const [expected, counted] = [modelled(fleet), simulated(fleet)];
    const measures = ['callsWithoutStore', 'callsWithStore', 'reads'].filter(
      (name) => counted[name] >= LEAST_COUNTED,
    );
    const deviations = Object.fromEntries(measures.map((name) => [name, expected[name] / counted[name] - 1]));
    return {
      fleet,
      expected,
      counted,
      deviations,
      isWithin: Object.values(deviations).every((part) => Math.abs(part) <= ALLOWED_DEVIATION),
    };
  });
}
