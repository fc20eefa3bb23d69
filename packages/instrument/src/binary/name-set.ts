import { decodeUtf8, viewOf } from './reader.ts';

/** A set of names in a module. */
export interface NameSet {
  /** Adds the name in `bytes[start .. end)`; returns false if the set has it. */
  readonly add: (start: number, end: number) => boolean;
}

/** More occupied slots in a row mean that names were chosen to collide. */
const maxProbes = 64;

/**
 * A set of up to `count` names, which are compared as bytes: decoding the 60,000 exports of a large module would take a
 * fifth of the total time. An attacker can find names that collide under this hash. The engine's own set, whose hash is
 * unpredictable, then takes over.
 */
export function createNameSet(bytes: Uint8Array, count: number): NameSet {
  const view = viewOf(bytes);
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
  const starts = new Uint32Array(count + 1);
  const ends = new Uint32Array(count + 1);
  let added = 0;
  let texts: Set<string> | undefined;

  function addText(start: number, end: number): boolean {
    texts ??= new Set(Array.from({ length: added }, (_, place) => textOf(bytes, starts[place + 1], ends[place + 1])));
    const size = texts.size;
    return texts.add(textOf(bytes, start, end)).size > size;
  }

  return {
    add(start, end) {
      if (texts !== undefined) return addText(start, end);
      let slot = hashOf(view, start, end) & (slots.length - 1);
      for (let probes = 0; slots[slot] !== 0; probes++) {
        const place = slots[slot] as number;
        if (isSame(bytes, starts[place] as number, ends[place] as number, start, end)) return false;
        if (probes === maxProbes) return addText(start, end);
        slot = (slot + 1) & (slots.length - 1);
      }
      slots[slot] = ++added;
      starts[added] = start;
      ends[added] = end;
      return true;
    },
  };
}

function hashOf(view: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x9e37_79b1);
  return hash ^ (hash >>> 15);
}

function isSame(bytes: Uint8Array, start: number, end: number, otherStart: number, otherEnd: number): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (let at = start, other = otherStart; at < end; at++, other++) if (bytes[at] !== bytes[other]) return false;
  return true;
}

function textOf(bytes: Uint8Array, start = 0, end = 0): string {
  return decodeUtf8(bytes, start, end) ?? '';
}
