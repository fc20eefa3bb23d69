import type { DeviceGrantId } from '@tenon/protocol';
import type { Clock } from '../../db/store.ts';

/** The initial polling interval of a device (RFC 8628 §3.2). */
export const pollIntervalSeconds = 5;

/** How much earlier than allowed a poll may arrive, because timers and networks are not exact. */
const toleranceMs = 1000;

/** The maximum number of tracked devices. A new device replaces the oldest. */
const maxDevices = 10_000;

/** Enforces the polling interval of the device grant. */
export type DevicePolls = ReturnType<typeof createDevicePolls>;

/** Tracks polls in memory. After a restart, or in another process, a device may poll more often than allowed. */
export function createDevicePolls(clock: Clock) {
  const polls = new Map<DeviceGrantId, { lastMs: number; intervalMs: number }>();
  return {
    /**
     * Records a poll.
     *
     * @returns whether it arrived too soon. Then the device's interval grows by 5 seconds (RFC 8628 §3.5)
     */
    isTooSoon(id: DeviceGrantId): boolean {
      const nowMs = clock();
      const known = polls.get(id);
      if (known === undefined) {
        const [oldest] = polls.keys();
        if (polls.size >= maxDevices && oldest !== undefined) polls.delete(oldest);
        polls.set(id, { lastMs: nowMs, intervalMs: pollIntervalSeconds * 1000 });
        return false;
      }
      const isTooSoon = nowMs - known.lastMs < known.intervalMs - toleranceMs;
      known.lastMs = nowMs;
      if (isTooSoon) known.intervalMs += 5000;
      return isTooSoon;
    },
    /** Stops tracking a device. */
    forget: (id: DeviceGrantId): void => void polls.delete(id),
  };
}
