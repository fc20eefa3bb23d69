/**
 * The ascending offsets of instructions to patch, each stored as the gap to the one before. Most gaps fit into a byte, so
 * the list of a real module takes a fiftieth of its code. No list is larger than the output that it leads to.
 */
export interface PatchSites {
  /** The offset that the first gap counts from. */
  readonly start: number;
  bytes: Uint8Array;
  length: number;
  /** The offset that was added last. */
  last: number;
}

/** Marks a number of four bytes. */
export const wideMark = 0xff;
/** Marks a probe: code that is inserted before an instruction. */
export const probeMark = 0xfe;

export function createPatchSites(start: number, capacityBytes: number): PatchSites {
  return { start, bytes: new Uint8Array(capacityBytes), length: 0, last: start };
}

/** Adds the instruction at `offset`. */
export function addPatchSite(list: PatchSites, offset: number): void {
  if (list.length + 10 > list.bytes.length) grow(list);
  const gap = offset - list.last;
  list.last = offset;
  if (gap < probeMark) {
    list.bytes[list.length++] = gap;
    return;
  }
  list.bytes[list.length++] = wideMark;
  putWide(list, gap);
}

/** Adds a probe before the instruction at `offset`, which may follow as another site. */
export function addProbeSite(list: PatchSites, offset: number, probe: number): void {
  if (list.length + 10 > list.bytes.length) grow(list);
  list.bytes[list.length++] = probeMark;
  putWide(list, probe);
  addPatchSite(list, offset);
}

/** Adds a `return` and the number of blocks that it leaves, which no other patch depends on. */
export function addReturnSite(list: PatchSites, offset: number, depth: number): void {
  addPatchSite(list, offset);
  if (depth < wideMark) {
    list.bytes[list.length++] = depth;
    return;
  }
  list.bytes[list.length++] = wideMark;
  putWide(list, depth);
}

/** Adds patch sites in the list's own form, the last of which is at the offset `last`. */
export function appendPatchSites(list: PatchSites, bytes: Uint8Array, last: number): void {
  if (list.length + bytes.length > list.bytes.length) grow(list, bytes.length);
  list.bytes.set(bytes, list.length);
  list.length += bytes.length;
  list.last = last;
}

function putWide(list: PatchSites, value: number): void {
  for (let shift = 0; shift < 32; shift += 8) list.bytes[list.length++] = value >>> shift;
}

function grow(list: PatchSites, needed = 0): void {
  const grown = new Uint8Array(2 * list.bytes.length + needed + 64);
  grown.set(list.bytes.subarray(0, list.length));
  list.bytes = grown;
}

/** A position in a list. */
export interface PatchSiteReader {
  readonly bytes: Uint8Array;
  readonly length: number;
  at: number;
  /** The offset of the next instruction; {@link noPatchSite} after the last. */
  next: number;
  /** The probe at that offset; -1 for an instruction. */
  probe: number;
}

/** An offset beyond every module. */
const noPatchSite = 0x7fff_ffff;

export function readPatchSites({ start, bytes, length }: PatchSites): PatchSiteReader {
  const reader = { bytes, length, at: 0, next: start, probe: -1 };
  nextPatchSite(reader);
  return reader;
}

/** Moves on to the next instruction or probe. */
export function nextPatchSite(reader: PatchSiteReader): void {
  if (reader.at >= reader.length) {
    reader.next = noPatchSite;
    return;
  }
  const first = reader.bytes[reader.at++] as number;
  reader.next += first < probeMark ? first : readMarked(reader, first);
}

/** Reads the rest of a wide gap, or a probe and its gap. */
function readMarked(reader: PatchSiteReader, mark: number): number {
  if (mark === wideMark) return readWide(reader);
  reader.probe = readWide(reader);
  return readNumber(reader);
}

/** The number of blocks that the current `return` leaves. */
export function readDepth(reader: PatchSiteReader): number {
  return readNumber(reader);
}

function readNumber(reader: PatchSiteReader): number {
  const { bytes } = reader;
  const first = bytes[reader.at++] as number;
  return first < wideMark ? first : readWide(reader);
}

function readWide(reader: PatchSiteReader): number {
  let value = 0;
  for (let shift = 0; shift < 32; shift += 8) value |= (reader.bytes[reader.at++] as number) << shift;
  return value;
}
