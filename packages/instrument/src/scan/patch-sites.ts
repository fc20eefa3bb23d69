/**
 * Where the code has to change: the offsets of instructions, ascending, each as the gap to the one before it. Most gaps fit
 * into a byte, so the list of a real module takes a fiftieth of its code; no list takes more than the output that it makes.
 */
export interface PatchSites {
  /** The offset that the first gap counts from. */
  readonly start: number;
  bytes: Uint8Array;
  length: number;
  /** The offset that was added last. */
  last: number;
}

/** Before four bytes of a gap that does not fit into one. */
const wideGap = 0xff;

export function createPatchSites(start: number, capacityBytes: number): PatchSites {
  return { start, bytes: new Uint8Array(capacityBytes), length: 0, last: start };
}

/** Adds the instruction at `offset`. */
export function addPatchSite(list: PatchSites, offset: number): void {
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
export function addReturnSite(list: PatchSites, offset: number, depth: number): void {
  addPatchSite(list, offset);
  if (depth < wideGap) {
    list.bytes[list.length++] = depth;
    return;
  }
  list.bytes[list.length++] = wideGap;
  putWide(list, depth);
}

function putWide(list: PatchSites, value: number): void {
  for (let shift = 0; shift < 32; shift += 8) list.bytes[list.length++] = value >>> shift;
}

function grow(list: PatchSites): void {
  const grown = new Uint8Array(2 * list.bytes.length + 64);
  grown.set(list.bytes.subarray(0, list.length));
  list.bytes = grown;
}

/** A position in a list. */
export interface PatchSiteReader {
  readonly bytes: Uint8Array;
  readonly length: number;
  at: number;
  /** The offset of the instruction that comes next; {@link noPatchSite} behind the last. */
  next: number;
}

/** Beyond every module. */
const noPatchSite = 0x7fff_ffff;

export function readPatchSites({ start, bytes, length }: PatchSites): PatchSiteReader {
  const reader = { bytes, length, at: 0, next: start };
  nextPatchSite(reader);
  return reader;
}

/** Moves on to the next instruction. */
export function nextPatchSite(reader: PatchSiteReader): void {
  if (reader.at >= reader.length) reader.next = noPatchSite;
  else reader.next += readNumber(reader);
}

/** How many blocks the `return` leaves at which the reader stands. */
export function readDepth(reader: PatchSiteReader): number {
  return readNumber(reader);
}

function readNumber(reader: PatchSiteReader): number {
  const { bytes } = reader;
  const first = bytes[reader.at++] as number;
  if (first < wideGap) return first;
  let value = 0;
  for (let shift = 0; shift < 32; shift += 8) value |= (bytes[reader.at++] as number) << shift;
  return value;
}
