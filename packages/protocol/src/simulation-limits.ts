/** How many simulations an extension point has at most. */
export const maxSimulations = 20;

/** The maximum size of a simulation's fixtures as JSON, and of its mock input, in bytes. */
export const maxSimulationTextBytes = 256 * 1024;

/** The maximum size of the body that sets a simulation, in bytes. */
export const maxSimulationBodyBytes = 16 * 1024 * 1024;
