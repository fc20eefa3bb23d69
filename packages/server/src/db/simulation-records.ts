import type { ContentAddress, ExtensionPointId, SimulationId } from '@tenon/protocol';

/** A simulation of an extension point. It has either a test module or fixtures. */
export interface SimulationRecord {
  readonly id: SimulationId;
  readonly extensionPointId: ExtensionPointId;
  /** Unique within the extension point. */
  readonly name: string;
  /** The extension point's `simulationsRevision` after the last change of this simulation. */
  readonly revision: number;
  readonly testModule: ContentAddress | null;
  /** In bytes. */
  readonly testModuleSize: number | null;
  /** The module with the host functions. */
  readonly mockHost: ContentAddress | null;
  /** In bytes. */
  readonly mockHostSize: number | null;
  /** What `mock_input()` returns. */
  readonly mockInputBase64: string | null;
  readonly fixturesJson: string | null;
  /** The size of the modules, the mock input and the fixtures. */
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Identifies a simulation, and has the new `simulationsRevision` of its extension point. */
export type SimulationChange = Pick<SimulationRecord, 'extensionPointId' | 'name' | 'revision'>;
