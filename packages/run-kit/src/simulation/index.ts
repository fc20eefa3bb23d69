/** Runs a plugin against a simulation of its extension point. */
export { mockHostFault, testModuleFault } from './module-faults.ts';
export { runSimulation } from './run-simulation.ts';
export { defaultSimulationLimits, type SimulationInputs, type SimulationLimits, type SimulationTask } from './task.ts';
