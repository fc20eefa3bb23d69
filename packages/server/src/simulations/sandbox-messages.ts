import type { SimulationTask } from '@tenon/run-kit/simulation';

/** A simulation, and the limit of its memory. The process sets the other limits. */
export type LimitedTask = Omit<SimulationTask, 'limits'> & { readonly maxMemoryBytes: number };

/** The form of a {@link LimitedTask} that crosses the pipe. Values with names chosen by users travel as JSON. */
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

export function encodeTask({ plugin, simulation, ...rest }: LimitedTask): SandboxTask {
  const { testModule, mockHost, mockInput, ...simulationRest } = simulation;
  return {
    plugin: plain(plugin),
    ...(testModule && { testModule: plain(testModule) }),
    ...(mockHost && { mockHost: plain(mockHost) }),
    ...(mockInput && { mockInput: plain(mockInput) }),
    restJson: JSON.stringify({ ...rest, simulation: simulationRest }),
  };
}

export function decodeTask({ plugin, restJson, ...bytes }: SandboxTask): LimitedTask {
  const { simulation, ...rest } = JSON.parse(restJson) as LimitedTask;
  return { ...rest, plugin, simulation: { ...simulation, ...bytes } };
}

/** Converts a Buffer to a plain Uint8Array over the same memory, since `encodeMessage()` doesn't attach Buffers. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
