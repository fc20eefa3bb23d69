import type { ProcessId, UserId } from '@tenon/protocol';

/** A user who may read the server's status. An operator has no rights on applications. */
export interface OperatorRecord {
  readonly userId: UserId;
  readonly createdAtMs: number;
}

/** A server process on a shared database. */
export interface NodeRecord {
  /** Of the process: a host may run several. */
  readonly id: ProcessId;
  /** The host name. */
  readonly node: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAtMs: number;
}

/** A node with the time and age of its last heartbeat by the database's clock, because the nodes' clocks may differ. */
export type SeenNode = NodeRecord & { readonly lastSeenAtMs: number; readonly silentMs: number };

/**
 * What a record of a run is about: garbage collection of blobs, the deletion of expired rows, or the check of the clock. The times of the last
 * runs show whether the clock has jumped.
 */
export type MaintenanceJob = 'collect' | 'maintenance' | 'clock';

export interface MaintenanceRunRecord {
  readonly kind: MaintenanceJob;
  readonly endedAtMs: number;
  /** Counts, such as of deleted blobs. */
  readonly outcome: Readonly<Record<string, number>>;
}
