/** A parameter as drivers take it: what goes into a column of type `json` becomes text. */
export function encode(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
