import { type FunctionTable, shownNameAt } from '../look/function-table.ts';
import { nameGroup } from './name-group.ts';
import { type Box, squarify } from './treemap.ts';

/** A function, or the many small ones together, as a part of the picture. */
export interface SizeTile extends Box {
  /** As people write it; `undefined` for all those that have no tile of their own. */
  readonly name: string | undefined;
  readonly bytes: number;
  /** How many functions it shows. */
  readonly functions: number;
  /** The colour of the group that it belongs to. */
  readonly colour: number;
}

export interface SizeGroup {
  readonly name: string;
  readonly bytes: number;
  readonly colour: number;
}

/** So many groups have a colour of their own, 0 and so on; the rest is one, whose colour comes after those. */
const maxGroups = 7;

export interface SizeMap {
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
 * Draws functions by the size of their bodies, those that belong together side by side.
 *
 * @param biggest indices of the functions that get a tile of their own
 */
export function sizeMap(table: FunctionTable, biggest: Uint32Array, box: Box): SizeMap {
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
  const groups = gather(small.bytes > 0 ? [...pieces, small] : pieces);
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

interface Gathered extends SizeGroup {
  readonly pieces: readonly Piece[];
}

/** Puts what belongs together into a few groups, the rest into one more. */
function gather(pieces: readonly Piece[]): readonly Gathered[] {
  const byName = Map.groupBy(pieces, ({ name }) => (name === undefined ? 'other' : nameGroup(name)));
  const other = byName.get('other') ?? [];
  byName.delete('other');
  const named = [...byName].sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
  const rest = [...other, ...named.slice(maxGroups).flatMap(([, own]) => own)];
  const groups = [...named.slice(0, maxGroups), ...(rest.length === 0 ? [] : [['other', rest] as const])];
  return groups
    .map(([name, own], at): Gathered => {
      const sorted = own.toSorted((a, b) => b.bytes - a.bytes);
      return { name, bytes: sizeOf(own), pieces: sorted, colour: name === 'other' ? maxGroups : at };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes, 0);
}
