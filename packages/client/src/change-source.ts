import type { BindingsKey } from './events.ts';

/**
 * Says from when on change events are complete, so that lists stay fresh without polling. Sequence numbers are a logical clock: a list
 * that was requested at or after `liveSince`, and was not invalidated since, is current.
 */
export interface ChangeSource {
  /** Follows an extension point whose lists are in use. Called on each use, so it must be cheap. */
  follow(extensionPointId: string): void;
  /** The sequence number from which on every change was received. `undefined` if no stream is live. */
  liveSince(extensionPointId: string): number | undefined;
  /**
   * Until when the stream would have reported a change of a list that was requested at `sequence`, by the monotonic clock: its last
   * heartbeat, also after it broke. `-Infinity` if it did not follow the list.
   */
  confirmedMs(extensionPointId: string, sequence: number): number;
}

/** Receives the changes of a {@link ChangeSource}. */
export interface ChangeReceiver {
  /** Increments the logical clock and returns it. */
  nextSequence(): number;
  /** Marks a list as changed, and refetches it if it is in memory. */
  invalidate(key: BindingsKey): void;
}
