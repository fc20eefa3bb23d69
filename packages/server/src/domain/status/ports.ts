import type { ProcessId, UserId } from '@tenon/protocol';

/** Who may see how the server is. It gives no right on any application. */
export interface OperatorRecord {
  readonly userId: UserId;
  readonly createdAtMs: number;
}

/** A process that serves, as it last told of itself. */
export interface ProcessRecord {
  readonly id: ProcessId;
  /** The machine's name. */
  readonly node: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAtMs: number;
  /** A `ProcessReport` of the protocol, as the process's version has it. */
  readonly reportJson: string;
}

/**
 * With when it told it, and how long ago that was: by the database's clock both, since those of the nodes may differ. SQLite tells
 * the time to the second.
 */
export type SeenProcess = ProcessRecord & { readonly lastSeenAtMs: number; readonly silentMs: number };

/** The house's own works whose last end is kept. */
export type ChoreKind = 'collect' | 'verify' | 'backup' | 'maintenance' | 'clock';

export interface ChoreRecord {
  readonly kind: ChoreKind;
  readonly endedAtMs: number;
  /** Numbers by name. */
  readonly outcome: Readonly<Record<string, number>>;
}

/** What a store tells of itself. */
export interface StoreFacts {
  /** The version of the database. */
  readonly version: string;
  readonly bytes: number;
  /** The number of the last migration. */
  readonly schemaVersion: number;
}

/** A number of rows: the number itself up to some thousands, and about that many beyond. */
export interface Counted {
  readonly value: number;
  readonly isEstimate: boolean;
}

/** How much there is, without reading all of it. */
export interface StoreSizes {
  /** Without those that were deleted. */
  readonly accounts: Counted;
  readonly apps: Counted;
  readonly extensionPoints: Counted;
  readonly guests: Counted;
  readonly plugins: Counted;
  readonly versions: Counted;
  /** Claims of plugins to their names under guests, which bind a version as a rule. */
  readonly bindings: Counted;
  readonly contents: Counted;
  readonly contentBytes: Counted;
}
