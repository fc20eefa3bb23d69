/**
 * Says when a stream's next heartbeat is due. A stream is woken by any change of the store, mostly without an event for it, so the time
 * since its last wake says nothing.
 *
 * @param quietMs returns the time between two heartbeats, or until the client loses its access
 */
export function createQuietTimer(quietMs: () => number) {
  let dueMs = performance.now() + quietMs();
  return {
    /** How long to wait for an event. */
    remainingMs: (): number => Math.max(1, Math.min(dueMs - performance.now(), quietMs())),
    /** Whether a heartbeat is due. The time to the next one then begins. */
    takeDue(): boolean {
      if (performance.now() < dueMs) return false;
      dueMs = performance.now() + quietMs();
      return true;
    },
  };
}
