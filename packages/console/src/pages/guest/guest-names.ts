import type { App } from '@tenon/protocol';

const byName = new Intl.Collator('en', { numeric: true });

/**
 * Names the user's guests in an application, by id, in order of their names. A guest has the label from the team; without a label, or
 * with the same label as another guest, it also has a number in order of creation, because guests don't see guest keys.
 */
export function guestNames({ guests }: Pick<App, 'guests'>): ReadonlyMap<string, string> {
  const counts = new Map<string | null, number>();
  for (const { label } of guests) counts.set(label, (counts.get(label) ?? 0) + 1);
  const named = guests
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, label }, at): [string, string] => {
      if (label === null) return [id, guests.length === 1 ? 'your guest' : `your guest ${at + 1}`];
      return [id, counts.get(label) === 1 ? label : `${label} (${at + 1})`];
    });
  return new Map(named.toSorted(([, a], [, b]) => byName.compare(a, b)));
}
