/** A rectangle in pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides a box into tiles with areas in proportion to the weights, as square as possible: Bruls, Huizing and van Wijk,
 * "Squarified treemaps" (2000).
 *
 * @param weights above zero, the largest first
 * @returns a tile for each weight
 */
export function squarify(weights: readonly number[], box: Box): Box[] {
  const scale = (box.width * box.height) / weights.reduce((sum, weight) => sum + weight, 0);
  const tiles: Box[] = [];
  let rest = box;
  for (let start = 0; start < weights.length; ) {
    const side = Math.min(rest.width, rest.height);
    const end = rowEnd(weights, start, scale, side);
    const row = weights.slice(start, end).map((weight) => weight * scale);
    const laid = layRow(row, rest);
    tiles.push(...laid.tiles);
    rest = laid.rest;
    start = end;
  }
  return tiles;
}

/** Adds weights to a row along the shorter side while that doesn't worsen the row's worst aspect ratio. */
function rowEnd(weights: readonly number[], start: number, scale: number, side: number): number {
  const largest = (weights[start] as number) * scale;
  let sum = 0;
  let worst = Number.POSITIVE_INFINITY;
  let end = start;
  for (; end < weights.length; end++) {
    const area = (weights[end] as number) * scale;
    const thickness = (sum + area) / side;
    const ratio = Math.max(largest / thickness ** 2, thickness ** 2 / area);
    if (ratio > worst) break;
    worst = ratio;
    sum += area;
  }
  return Math.max(end, start + 1);
}

function layRow(areas: readonly number[], box: Box): { readonly tiles: Box[]; readonly rest: Box } {
  const sum = areas.reduce((total, area) => total + area, 0);
  const isUpright = box.width >= box.height;
  const side = isUpright ? box.height : box.width;
  const thickness = side === 0 ? 0 : sum / side;
  let along = 0;
  const tiles = areas.map((area): Box => {
    const length = thickness === 0 ? 0 : area / thickness;
    const tile = isUpright
      ? { x: box.x, y: box.y + along, width: thickness, height: length }
      : { x: box.x + along, y: box.y, width: length, height: thickness };
    along += length;
    return tile;
  });
  const rest = isUpright
    ? { ...box, x: box.x + thickness, width: Math.max(0, box.width - thickness) }
    : { ...box, y: box.y + thickness, height: Math.max(0, box.height - thickness) };
  return { tiles, rest };
}
