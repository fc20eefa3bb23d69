import {
  type Definition,
  definitions,
  type LabelsOf,
  type MetricName,
  type NameOf,
  type PlainName,
} from './definitions.ts';

/** What only grows. Plain numbers, so that counting costs nothing worth a word. */
export interface Counter {
  value: number;
}

/** How values are spread. */
export interface Histogram {
  /** How many values lie below each bound of the buckets and above the one before, and last how many lie above all. */
  readonly counts: readonly number[];
  observe(value: number): void;
}

/** What is read when somebody asks: a value with its labels. */
export interface Reading<Name extends MetricName> {
  readonly labels: LabelsOf<Name>;
  readonly value: number;
}

export type Registry = ReturnType<typeof createRegistry>;

/** What {@link Registry.text} is, for `content-type`. */
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
    const one = (ofName.get(key) as S | undefined) ?? make();
    ofName.set(key, one);
    return one;
  };
  const linesOf = ([name, { help, type }]: [MetricName, Definition]): string[] => {
    const counted = Iterator.from(series.get(name)?.values() ?? []).flatMap((one) => one.entries());
    const read = (readers.get(name)?.() ?? []).map(({ labels, value }) => [seriesName(name, labels), value] as const);
    const lines = [...counted, ...read].map(([series, value]) => `${series} ${value}`);
    return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines];
  };

  return {
    /** The counter with these labels: always the same one. It is at zero, and written, from when it is first asked for. */
    counter: <Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): Counter =>
      seriesOf(name, labels, () => createCounter(name, labels)),
    histogram: <Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): Histogram =>
      seriesOf(name, labels, () => createHistogram(name, labels)),
    /** Has values read at each scrape that are counted elsewhere already. */
    atScrape<Name extends NameOf<'counter' | 'gauge'>>(name: Name, read: () => readonly Reading<Name>[]): void {
      readers.set(name, read);
    },
    /** As `atScrape()`, for a metric that has no labels. */
    valueAtScrape(name: PlainName, read: () => number): void {
      readers.set(name, () => [{ labels: {}, value: read() }]);
    },
    /** All values in Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
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
  const counts = new Array<number>(buckets.length + 1).fill(0); // the last is what is above all bounds
  let sum = 0;
  return {
    counts,
    observe(value) {
      sum += value;
      let at = 0;
      while (at < buckets.length && value > (buckets[at] as number)) at++;
      counts[at] = (counts[at] as number) + 1;
    },
    entries() {
      let count = 0;
      const ofBuckets = counts.map((own, index): [string, number] => {
        count += own;
        return [seriesName(`${name}_bucket`, { ...labels, le: String(buckets[index] ?? '+Inf') }), count];
      });
      return [...ofBuckets, [seriesName(`${name}_sum`, labels), sum], [seriesName(`${name}_count`, labels), count]];
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
