/**
 * Where the code has to change: the offsets of instructions, ascending, each as the gap to the one before it. Most gaps fit
 * into a byte, so the list of a real module takes a fiftieth of its code; no list takes more than the output that it makes.
 */
export interface SiteList {
  bytes: Uint8Array;
  length: number;
  /** The offset that was added last. */
  last: number;
}

/** Before four bytes of a gap that does not fit into one. */
const wideGap = 0xff;

export function createSiteList(start: number, capacityBytes: number): SiteList {
  return { bytes: new Uint8Array(capacityBytes), length: 0, last: start };
}

/** Adds the instruction at `offset`. */
export function addSite(list: SiteList, offset: number): void {
  if (list.length + 10 > list.bytes.length) grow(list);
  const gap = offset - list.last;
  list.last = offset;
  if (gap < wideGap) {
    list.bytes[list.length++] = gap;
    return;
  }
  list.bytes[list.length++] = wideGap;
  putWide(list, gap);
}

/** Adds a `return`, and how many blocks it leaves: the only instruction whose rewriting depends on that. */
export function addReturnSite(list: SiteList, offset: number, depth: number): void {
  addSite(list, offset);
  if (depth < wideGap) {
    list.bytes[list.length++] = depth;
    return;
  }
  list.bytes[list.length++] = wideGap;
  putWide(list, depth);
}

function putWide(list: SiteList, value: number): void {
  for (let shift = 0; shift < 32; shift += 8) list.bytes[list.length++] = value >>> shift;
}

function grow(list: SiteList): void {
  const grown = new Uint8Array(2 * list.bytes.length + 64);
  grown.set(list.bytes.subarray(0, list.length));
  list.bytes = grown;
}

/** A position in a list. */
export interface SiteReader {
  readonly bytes: Uint8Array;
  readonly length: number;
  at: number;
  /** The offset of the instruction that comes next; {@link noSite} behind the last. */
  next: number;
}

/** Beyond every module. */
export const noSite = 0x7fff_ffff;

export function readSites({ bytes, length }: SiteList, start: number): SiteReader {
  const reader = { bytes, length, at: 0, next: start };
  nextSite(reader);
  return reader;
}

/** Moves on to the next instruction. */
export function nextSite(reader: SiteReader): void {
  if (reader.at >= reader.length) reader.next = noSite;
  else reader.next += readNumber(reader);
}

/** How many blocks the `return` leaves at which the reader stands. */
export function readDepth(reader: SiteReader): number {
  return readNumber(reader);
}

function readNumber(reader: SiteReader): number {
  const { bytes } = reader;
  const first = bytes[reader.at++] as number;
  if (first < wideGap) return first;
  let value = 0;
  for (let shift = 0; shift < 32; shift += 8) value |= (bytes[reader.at++] as number) << shift;
  return value;
}
