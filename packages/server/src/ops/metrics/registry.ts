import {
  type Definition,
  definitions,
  type LabelsOf,
  type MetricName,
  type NameOf,
  type PlainName,
} from './definitions.ts';

/** A value that only grows. A plain number, because requests increment it. */
export interface Counter {
  value: number;
}

export interface Histogram {
  /** The number of values in each bucket, not cumulative. The last bucket has no upper bound. */
  readonly counts: readonly number[];
  observe(value: number): void;
}

/** A value that is read at each scrape. */
export interface Reading<Name extends MetricName> {
  readonly labels: LabelsOf<Name>;
  readonly value: number;
}

export type Registry = ReturnType<typeof createRegistry>;

/** The `content-type` of {@link Registry.text}. */
export const textFormatType = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;

interface Series {
  entries(): [series: string, value: number][];
}

export function createRegistry() {
  const series = new Map<MetricName, Map<string, Series & (Counter | Histogram)>>();
  const readers = new Map<MetricName, () => readonly { readonly labels: Labels; readonly value: number }[]>();

  const seriesOf = <S extends Series & (Counter | Histogram)>(name: MetricName, labels: Labels, make: () => S): S => {
    const ofName = series.get(name) ?? new Map<string, S>();
    series.set(name, ofName);
    const { labels: names }: Definition = definitions[name];
    const key = names.map((label) => labels[label]).join('\n');
    const found = (ofName.get(key) as S | undefined) ?? make();
    ofName.set(key, found);
    return found;
  };
  const linesOf = ([name, { help, type }]: [MetricName, Definition]): string[] => {
    const counted = Iterator.from(series.get(name)?.values() ?? []).flatMap((one) => one.entries());
    const read = (readers.get(name)?.() ?? []).map(({ labels, value }) => [seriesName(name, labels), value] as const);
    const lines = [...counted, ...read].map(([series, value]) => `${series} ${value}`);
    return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines];
  };

  return {
    /** Returns the counter with these labels. The first call adds it to the output. */
    counter: <Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): Counter =>
      seriesOf(name, labels, () => createCounter(name, labels)),
    histogram: <Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): Histogram =>
      seriesOf(name, labels, () => createHistogram(name, labels)),
    /** Reads values at each scrape that are counted elsewhere. */
    atScrape<Name extends NameOf<'counter' | 'gauge'>>(name: Name, read: () => readonly Reading<Name>[]): void {
      readers.set(name, read);
    },
    /** Like `atScrape()`, for a metric without labels. */
    valueAtScrape(name: PlainName, read: () => number): void {
      readers.set(name, () => [{ labels: {}, value: read() }]);
    },
    /** Returns all values in Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
    text: (): string => `${(Object.entries(definitions) as [MetricName, Definition][]).flatMap(linesOf).join('\n')}\n`,
  };
}

function createCounter(name: MetricName, labels: Labels): Series & Counter {
  return {
    value: 0,
    entries() {
      return [[seriesName(name, labels), this.value]];
    },
  };
}

function createHistogram(name: MetricName, labels: Labels): Series & Histogram {
  const { buckets }: Definition = definitions[name];
  const counts = new Array<number>(buckets.length + 1).fill(0);
  let sum = 0;
  return {
    counts,
    observe(value) {
      sum += value;
      let bucket = 0;
      while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++;
      counts[bucket] = (counts[bucket] as number) + 1;
    },
    entries() {
      let cumulative = 0;
      const bucketEntries = counts.map((count, index): [string, number] => {
        cumulative += count;
        return [seriesName(`${name}_bucket`, { ...labels, le: String(buckets[index] ?? '+Inf') }), cumulative];
      });
      const totals: [string, number][] = [
        [seriesName(`${name}_sum`, labels), sum],
        [seriesName(`${name}_count`, labels), cumulative],
      ];
      return [...bucketEntries, ...totals];
    },
  };
}

function seriesName(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
