import type { SimulationTask } from '@tenon/run-kit/simulation';

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

/** Converts a Buffer to a plain Uint8Array over the same memory, since `encodeMessage()` doesn't attach Buffers. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
