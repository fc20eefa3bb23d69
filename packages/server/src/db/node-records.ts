import type { ProcessId, UserId } from '@tenon/protocol';

/** Who may see how the server is. It gives no right on any application. */
export interface OperatorRecord {
  readonly userId: UserId;
  readonly createdAtMs: number;
}

/** A process that serves on a database that several share. */
export interface NodeRecord {
  readonly id: ProcessId;
  /** The machine's name. */
  readonly node: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAtMs: number;
}

/** With the time of its last heartbeat, and how long ago that was, both by the database's clock, since those of the nodes may differ. */
export type SeenNode = NodeRecord & { readonly lastSeenAtMs: number; readonly silentMs: number };

/** Maintenance whose last run is recorded: a clock that jumps is noticed by it. */
export type MaintenanceJob = 'collect' | 'maintenance' | 'clock';

export interface MaintenanceRunRecord {
  readonly kind: MaintenanceJob;
  readonly endedAtMs: number;
  /** Numbers by name. */
  readonly outcome: Readonly<Record<string, number>>;
}
