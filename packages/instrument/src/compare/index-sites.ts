import { readBodyBounds } from '../binary/code.ts';
import type { Module } from '../binary/module.ts';
import { ImmediateKind, oneByteKinds } from '../binary/opcodes.ts';
import { findSection, SectionId } from '../binary/sections.ts';
import { visitSection } from '../binary/visit-section.ts';
import { scanCode } from '../scan/scan-code.ts';

/** Bytes of a module. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * The offsets of function and type indices in some ranges of a module, each stored as the gap to the one before. Most take one
 * byte.
 */
interface SiteList {
  bytes: Uint8Array;
  length: number;
  /** The offset that was added last. */
  previous: number;
}

/** The sites of a range: `[first, last)` in a list. */
export interface Sites extends Range {
  readonly list: SiteList;
  readonly first: number;
  readonly last: number;
}

/** The function and type indices in the code, and the function indices in the sections that refer to functions. */
export interface IndexSites {
  /** The sites of a function body, by its position in the code section. */
  ofBody(body: number): Sites;
  /** By section id: tables, globals, and element segments. Exports are compared by name. */
  readonly ofSections: ReadonlyMap<number, Sites>;
}

const referringSections = [SectionId.table, SectionId.global, SectionId.element] as const;

/** @throws InstrumentError for a module whose code can't be read */
export function findIndexSites(module: Module): IndexSites {
  const { bytes, importedFunctions } = module;
  const bounds = readBodyBounds(module);
  const bodyCount = bounds.length / 2;
  const list = createSiteList(0, bounds.length);
  const firstOfBody = new Uint32Array(bodyCount + 1);
  let nextBody = 0;
  const openBodies = (until: number) => {
    for (; nextBody <= until; nextBody++) firstOfBody[nextBody] = list.length;
  };
  const visitor = {
    onLocals() {},
    onInstruction(offset: number, _end: number, functionIndex: number) {
      const body = functionIndex - importedFunctions.length;
      if (body >= nextBody) {
        openBodies(body);
        list.previous = bounds[2 * body] as number;
      }
      const kind = siteKind(bytes, offset);
      if (kind !== undefined) addSite(list, offset + 1, kind);
    },
  };
  scanCode(module, bounds, () => {}, visitor);
  openBodies(bodyCount);
  return {
    ofBody: (body) => ({
      list,
      start: bounds[2 * body] as number,
      end: bounds[2 * body + 1] as number,
      first: firstOfBody[body] as number,
      last: firstOfBody[body + 1] as number,
    }),
    ofSections: findSectionSites(module),
  };
}

function findSectionSites({ bytes, sections, cost }: Module): Map<number, Sites> {
  const found = new Map<number, Sites>();
  for (const id of referringSections) {
    const section = findSection(sections, id);
    if (section === undefined) continue;
    const { contentStart: start, end } = section;
    const list = createSiteList(start, 0);
    visitSection(bytes, section, id, { cost, onFunctionIndex: (_index, at) => addSite(list, at, 'function') });
    found.set(id, { list, start, end, first: 0, last: list.length });
  }
  return found;
}

/** What the index behind the opcode at an offset refers to, if there is one. */
function siteKind(bytes: Uint8Array, offset: number): 'function' | 'type' | undefined {
  switch (oneByteKinds[bytes[offset] as number]) {
    case ImmediateKind.Call:
    case ImmediateKind.ReturnCall:
    case ImmediateKind.RefFunc:
      return 'function';
    case ImmediateKind.CallIndirect:
    case ImmediateKind.ReturnCallIndirect:
    case ImmediateKind.CallRef:
    case ImmediateKind.ReturnCallRef:
      return 'type';
    case ImmediateKind.Block:
    case ImmediateKind.Try:
    case ImmediateKind.TryTable: {
      const byte = bytes[offset + 1] as number;
      return byte < 0x40 || byte >= 0x80 ? 'type' : undefined; // else nothing, or one value
    }
    default:
      return undefined;
  }
}

function createSiteList(start: number, capacity: number): SiteList {
  return { bytes: new Uint8Array(capacity + 16), length: 0, previous: start };
}

function addSite(list: SiteList, offset: number, kind: 'function' | 'type'): void {
  if (list.length + 8 > list.bytes.length) {
    const grown = new Uint8Array(2 * list.bytes.length);
    grown.set(list.bytes.subarray(0, list.length));
    list.bytes = grown;
  }
  let value = 2 * (offset - list.previous) + (kind === 'type' ? 1 : 0);
  list.previous = offset;
  for (; value >= 0x80; value >>>= 7) list.bytes[list.length++] = (value & 0x7f) | 0x80;
  list.bytes[list.length++] = value;
}

/** A position in the sites of a range. */
export interface SiteReader {
  readonly sites: Sites;
  at: number;
  /** The offset of the next site; the end of the range after the last one. */
  next: number;
  /** Whether it is a type index. */
  isType: boolean;
}

export function readSites(sites: Sites): SiteReader {
  const reader = { sites, at: sites.first, next: sites.start, isType: false };
  nextSite(reader);
  return reader;
}

/** Moves on to the next site. */
export function nextSite(reader: SiteReader): void {
  const { list, last, end } = reader.sites;
  if (reader.at >= last) {
    reader.next = end;
    return;
  }
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = list.bytes[reader.at++] as number;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  reader.isType = (value & 1) === 1;
  reader.next += value >>> 1;
}
