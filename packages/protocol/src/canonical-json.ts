/** Serializes a value with sorted keys, without whitespace, and in ASCII (RFC 8785 apart from the escapes). */
export function canonicalJson(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
  return sorted.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
