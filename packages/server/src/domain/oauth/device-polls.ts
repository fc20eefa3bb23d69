import type { DeviceGrantId } from '@tenon/protocol';
import type { Clock } from '../ports.ts';

/** How long a device waits between two questions, in seconds (RFC 8628 §3.2). */
export const pollIntervalSeconds = 5;

/** How much sooner than it was told a device may ask: timers and networks are no clockwork. */
const toleranceMs = 1000;

/** The most devices whose questions are remembered; beyond it, those that asked first are forgotten. */
const maxDevices = 10_000;

/** Watches how often devices ask whether they were approved. */
export interface DevicePolls {
  /** Notes a question. @returns whether it came too soon; the device must then wait 5 s longer each time, for good (RFC 8628 §3.5) */
  isTooSoon(id: DeviceGrantId): boolean;
  /** Forgets a device that asks no more. */
  forget(id: DeviceGrantId): void;
}

/** Keeps the questions in memory: another process, or a restart, is at worst more patient with a device. */
export function createDevicePolls(clock: Clock): DevicePolls {
  const polls = new Map<DeviceGrantId, { lastMs: number; intervalMs: number }>();
  return {
    isTooSoon(id) {
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
    forget: (id) => void polls.delete(id),
  };
}
