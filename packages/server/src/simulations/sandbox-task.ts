import { runSimulation, type SimulationTask } from '@tenon/run-kit/simulation';
import type { TaskResponse } from '../workers/serve-tasks.ts';

/** The form of a {@link SimulationTask} that crosses the pipe. Values with names chosen by users travel as JSON. */
export interface SandboxTask {
  readonly plugin: Uint8Array;
  readonly testModule?: Uint8Array;
  readonly mockHost?: Uint8Array;
  readonly mockInput?: Uint8Array;
  /** The other fields. */
  readonly restJson: string;
}

/** A `SimulationReport` as JSON, or why the modules could not run to an end. */
export type SandboxResult = { readonly reportJson: string } | { readonly failure: 'memory' | 'stack' };

export function encodeTask({ plugin, simulation, ...rest }: SimulationTask): SandboxTask {
  const { testModule, mockHost, mockInput, ...simulationRest } = simulation;
  return {
    plugin: plain(plugin),
    ...(testModule && { testModule: plain(testModule) }),
    ...(mockHost && { mockHost: plain(mockHost) }),
    ...(mockInput && { mockInput: plain(mockInput) }),
    restJson: JSON.stringify({ ...rest, simulation: simulationRest }),
  };
}

export function runTask({ plugin, restJson, ...bytes }: SandboxTask): TaskResponse<SandboxResult> {
  const { simulation, ...rest } = JSON.parse(restJson) as SimulationTask;
  try {
    const report = runSimulation({ ...rest, plugin, simulation: { ...simulation, ...bytes } });
    return { result: { reportJson: JSON.stringify(report) }, shouldRecycle: true };
  } catch (error) {
    // The engine throws this when it gets no more memory, and when the stack is full.
    if (!(error instanceof RangeError)) throw error;
    const failure = /call stack/.test(error.message) ? 'stack' : 'memory';
    return { result: { failure }, shouldRecycle: true };
  }
}

/** Converts a Buffer to a plain Uint8Array over the same memory, since `encodeMessage()` doesn't attach Buffers. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
