/** A segment of a source map, in absolute numbers from 0. */
export type Segment =
  | readonly [column: number]
  | readonly [column: number, source: number, line: number, sourceColumn: number, name?: number];

/** A source map of one line. */
export function sourceMapOf(sources: readonly string[], segments: readonly Segment[]): string {
  const last = [0, 0, 0, 0, 0];
  const mappings = segments.map((segment) =>
    segment
      .map((value = 0, field) => {
        const delta = value - (last[field] as number);
        last[field] = value;
        return vlq(delta);
      })
      .join(''),
  );
  return JSON.stringify({ version: 3, sources, names: [], mappings: mappings.join(',') });
}

/** The section that names a module's source map. */
export function sourceMapUrl(map: string): Uint8Array {
  return new TextEncoder().encode(`data:application/json;base64,${btoa(map)}`);
}

function vlq(value: number): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let left = value < 0 ? -value * 2 + 1 : value * 2;
  let text = '';
  do {
    text += digits[(left & 31) | (left > 31 ? 32 : 0)];
    left >>>= 5;
  } while (left > 0);
  return text;
}
