import { runSimulation, type SimulationTask } from '@tenon/run-kit';
import type { SimulationReport } from '@tenon/protocol';
import type { TaskResponse } from '../workers/serve-tasks.ts';

/** The form of a {@link SimulationTask} that crosses the pipe. Values with names chosen by users travel as JSON. */
export interface SandboxTask {
  readonly plugin: Uint8Array;
  readonly testModule: Uint8Array | undefined;
  readonly mockHost: Uint8Array | undefined;
  readonly mockInput: Uint8Array | undefined;
  /** The other fields. */
  readonly restJson: string;
}

export function encodeTask({ plugin, simulation, ...rest }: SimulationTask): SandboxTask {
  const { testModule, mockHost, mockInput, ...simulationRest } = simulation;
  return {
    plugin: plain(plugin),
    testModule: testModule && plain(testModule),
    mockHost: mockHost && plain(mockHost),
    mockInput: mockInput && plain(mockInput),
    restJson: JSON.stringify({ ...rest, simulation: simulationRest }),
  };
}

/** Runs a task. Returns the `SimulationReport` as JSON. */
export function runTask({ plugin, restJson, ...bytes }: SandboxTask): TaskResponse<string> {
  const { simulation, ...rest } = JSON.parse(restJson) as SimulationTask;
  const report: SimulationReport = runSimulation({ ...rest, plugin, simulation: { ...simulation, ...bytes } });
  return { result: JSON.stringify(report), shouldRecycle: true };
}

/** Converts a Buffer to a plain Uint8Array over the same memory, since `encodeMessage()` doesn't attach Buffers. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
