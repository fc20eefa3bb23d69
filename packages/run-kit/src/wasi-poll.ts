import { Errno, type Pointer, type WasiFunction, type WasiOptions } from './wasi-interface.ts';

const Clock = { realtime: 0, monotonic: 1 } as const;
const clockEvent = 0;
const subscriptionBytes = 48;
const eventBytes = 32;
/** In the older version, a subscription to a clock has an identifier. */
const identifierBytes = 8;

interface Subscription {
  readonly userData: bigint;
  readonly type: number;
  /** For a clock: the time from now. */
  readonly waitNano: bigint;
}

/** Clocks, and waiting for them. Streams are always ready. */
export function createPoll(
  { sleep, now = () => performance.now(), wallClock = () => performance.timeOrigin + performance.now() }: WasiOptions,
  view: () => DataView,
  isOlder: boolean,
): Record<string, WasiFunction> {
  const shift = isOlder ? identifierBytes : 0;
  const timeOf = (clock: number): bigint | undefined => {
    if (clock === Clock.realtime) return nanoseconds(wallClock());
    return clock <= 3 ? nanoseconds(now()) : undefined; // 2 and 3 are the processor time of the program
  };
  const readSubscription = (at: number): Subscription => {
    const fields = view();
    const [userData, type] = [fields.getBigUint64(at, true), fields.getUint8(at + 8)];
    if (type !== clockEvent) return { userData, type, waitNano: 0n };
    const clock = at + 16 + shift;
    const timeout = fields.getBigUint64(clock + 8, true);
    const isAbsolute = (fields.getUint16(clock + 24, true) & 1) === 1;
    const waitNano = isAbsolute ? timeout - (timeOf(fields.getUint32(clock, true)) ?? 0n) : timeout;
    return { userData, type, waitNano: waitNano < 0n ? 0n : waitNano };
  };
  return {
    clock_res_get(clock: number, pointer: Pointer) {
      if (timeOf(clock) === undefined) return Errno.inval;
      view().setBigUint64(pointer >>> 0, 5_000n, true);
      return Errno.success;
    },
    clock_time_get(clock: number, _precision: bigint, pointer: Pointer) {
      const time = timeOf(clock);
      if (time === undefined) return Errno.inval;
      view().setBigUint64(pointer >>> 0, BigInt.asUintN(64, time), true);
      return Errno.success;
    },
    poll_oneoff(subscriptions: Pointer, events: Pointer, count: number, countPointer: Pointer) {
      if (count >>> 0 === 0) return Errno.inval;
      const list = Array.from({ length: Math.min(count >>> 0, 1024) }, (_, index) =>
        readSubscription((subscriptions >>> 0) + (subscriptionBytes + shift) * index),
      );
      const ready = list.filter(({ type }) => type !== clockEvent);
      if (ready.length === 0) {
        const first = list.reduce((least, next) => (next.waitNano < least.waitNano ? next : least));
        sleep(Number(first.waitNano) / 1e6);
        ready.push(first);
      }
      ready.forEach(({ userData, type }, index) => {
        const at = (events >>> 0) + eventBytes * index;
        new Uint8Array(view().buffer).fill(0, at, at + eventBytes);
        view().setBigUint64(at, userData, true);
        view().setUint8(at + 10, type);
      });
      view().setUint32(countPointer >>> 0, ready.length, true);
      return Errno.success;
    },
  };
}

/** Converts milliseconds since 1970, of which a double holds a fifth of a microsecond, without losing more. */
function nanoseconds(ms: number): bigint {
  const whole = Math.trunc(ms);
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6));
}
