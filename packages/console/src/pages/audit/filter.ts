/** The filter of a trail, as in the page's URL. `''` for no filter. */
export interface AuditFilter {
  readonly action: string;
  readonly user: string;
  readonly target: string;
  /** Days as `2026-03-01`, by the reader's own calendar; both are included. */
  readonly from: string;
  readonly to: string;
}

const names = ['action', 'user', 'target', 'from', 'to'] as const satisfies readonly (keyof AuditFilter)[];

export const noFilter: AuditFilter = { action: '', user: '', target: '', from: '', to: '' };

export function readFilter(query: Readonly<Record<string, string>>): AuditFilter {
  return { ...noFilter, ...Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : []))) };
}

/** The filter as a URL query with its question mark; `''` without a filter. */
export function filterSearch(filter: AuditFilter): string {
  const set = names.filter((name) => filter[name] !== '').map((name) => [name, filter[name]]);
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`;
}

/** The filter as query parameters of the API. */
export function filterQuery({ from, to, ...rest }: AuditFilter): Record<string, string | undefined> {
  const asked: Record<string, string | undefined> = { from: dayBegin(from, 0), to: dayBegin(to, 1) };
  for (const [name, value] of Object.entries(rest)) asked[name] = value === '' ? undefined : value;
  return asked;
}

/** The start of a day in the local time zone, plus some days; `undefined` for an invalid day. */
function dayBegin(day: string, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
