import type { AppId, MirrorState } from '@tenon/protocol';

/** How far a mirror follows its source. A store has at most one. */
export interface MirrorRecord {
  /** The URL of the source. */
  readonly source: string;
  readonly state: MirrorState;
  /** Why the state is not `following`. */
  readonly detail: string | null;
  /** When the mirror was last known to equal the source; `null` if never. */
  readonly equalAtMs: number | null;
  /** When the first synchronization was complete; `null` before. From then on, the mirror is ready. */
  readonly completedAtMs: number | null;
  /** The lists that have plugins. */
  readonly lists: number;
  /** The lists of the source that differ. */
  readonly missingLists: number;
  /** The contents that these lists name, and that the mirror could not store. */
  readonly missingContents: number;
}

export interface MirroredAppRecord {
  readonly appId: AppId;
  /** The id of the newest change event of the source that the mirror has applied; `null` before the first synchronization. */
  readonly position: string | null;
}
