import { type FunctionTable, shownNameAt } from '../inspect/function-table.ts';
import { nameGroup } from './name-group.ts';
import { type Box, squarify } from './treemap.ts';

/** A function, or all small ones together. */
export interface SizeTile extends Box {
  /** Demangled; `undefined` for the small functions. */
  readonly name: string | undefined;
  readonly bytes: number;
  /** Number of functions. */
  readonly functions: number;
  /** The colour of its group. */
  readonly colour: number;
}

export interface SizeGroup {
  readonly name: string;
  readonly bytes: number;
  readonly colour: number;
}

/** Groups with their own colour, from 0. The rest is one group with the next colour. */
const maxGroups = 7;

export interface SizeLayout {
  readonly tiles: readonly SizeTile[];
  /** The largest first. */
  readonly groups: readonly SizeGroup[];
}

interface Piece {
  readonly name: string | undefined;
  readonly bytes: number;
  readonly functions: number;
}

/**
 * Lays out functions by the size of their bodies, those of a group side by side.
 *
 * @param biggest indices of the functions with a tile each
 */
export function layoutSizes(table: FunctionTable, biggest: Uint32Array, box: Box): SizeLayout {
  const pieces = [...biggest].flatMap((index): Piece[] => {
    const bytes = table.bodyBytes[index] ?? 0;
    return bytes === 0 ? [] : [{ name: shownNameAt(table, index), bytes, functions: 1 }];
  });
  const all = table.bodyBytes.reduce((sum, bytes) => sum + bytes, 0);
  const shown = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  const small: Piece = {
    name: undefined,
    bytes: all - shown,
    functions: table.count - table.importedCount - pieces.length,
  };
  const groups = groupPieces(small.bytes > 0 ? [...pieces, small] : pieces);
  const boxes = squarify(
    groups.map(({ bytes }) => bytes),
    box,
  );
  const tiles = groups.flatMap(({ pieces: own, colour }, group) =>
    squarify(
      own.map(({ bytes }) => bytes),
      boxes[group] as Box,
    ).map((tile, at): SizeTile => ({ ...tile, ...(own[at] as Piece), colour })),
  );
  return { tiles, groups: groups.map(({ name, bytes, colour }) => ({ name, bytes, colour })) };
}

interface GroupedPieces extends SizeGroup {
  readonly pieces: readonly Piece[];
}

/** Groups functions by name, and the small groups into one more. */
function groupPieces(pieces: readonly Piece[]): readonly GroupedPieces[] {
  const byName = Map.groupBy(pieces, ({ name }) => (name === undefined ? 'other' : nameGroup(name)));
  const other = byName.get('other') ?? [];
  byName.delete('other');
  const named = [...byName].sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
  const rest = [...other, ...named.slice(maxGroups).flatMap(([, own]) => own)];
  const groups = [...named.slice(0, maxGroups), ...(rest.length === 0 ? [] : [['other', rest] as const])];
  return groups
    .map(([name, own], at): GroupedPieces => {
      const sorted = own.toSorted((a, b) => b.bytes - a.bytes);
      return { name, bytes: sizeOf(own), pieces: sorted, colour: name === 'other' ? maxGroups : at };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes, 0);
}
