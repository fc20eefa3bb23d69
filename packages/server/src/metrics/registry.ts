import { type Definition, definitions, type LabelsOf, type MetricName, type NameOf } from './definitions.ts';

/** What only grows. Plain numbers, so that counting costs nothing worth a word. */
export interface Counter {
  value: number;
}

/** How values are spread. */
export interface Histogram {
  observe(value: number): void;
}

/** What is read when somebody asks: a value with its labels. */
export interface Reading<Name extends MetricName> {
  readonly labels: LabelsOf<Name>;
  readonly value: number;
}

/** The metrics' values, and the text that Prometheus reads. */
export interface Registry {
  /** The counter with these labels: always the same one. It is at zero, and written, from when it is first asked for. */
  counter<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): Counter;
  histogram<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): Histogram;
  /** Has values read at each scrape that are counted elsewhere already. */
  atScrape<Name extends NameOf<'counter' | 'gauge'>>(name: Name, read: () => readonly Reading<Name>[]): void;
  /** All values, in Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
  text(): string;
}

/** What {@link Registry.text} is, for `content-type`. */
export const textFormatType = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;

interface Series {
  lines(): string[];
}

export function createRegistry(): Registry {
  const series = new Map<MetricName, Map<string, Series & (Counter | Histogram)>>();
  const readers = new Map<MetricName, () => readonly { readonly labels: Labels; readonly value: number }[]>();

  const seriesOf = <S extends Series & (Counter | Histogram)>(name: MetricName, labels: Labels, make: () => S): S => {
    const ofName = series.getOrInsertComputed(name, () => new Map());
    const { labels: names }: Definition = definitions[name];
    return ofName.getOrInsertComputed(names.map((label) => labels[label]).join('\n'), make) as S;
  };
  return {
    counter: (name, labels) => seriesOf(name, labels, () => createCounter(name, labels)),
    histogram: (name, labels) => seriesOf(name, labels, () => createHistogram(name, labels)),
    atScrape(name, read) {
      readers.set(name, read);
    },
    text() {
      const lines: string[] = [];
      for (const [name, definition] of Object.entries(definitions) as [MetricName, Definition][]) {
        const counted = Iterator.from(series.get(name)?.values() ?? []).flatMap((one) => one.lines());
        const read = (readers.get(name)?.() ?? []).map(({ labels, value }) => lineOf(name, labels, value));
        lines.push(`# HELP ${name} ${escapeHelp(definition.help)}`, `# TYPE ${name} ${definition.type}`);
        lines.push(...counted, ...read);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}

function createCounter(name: MetricName, labels: Labels): Series & Counter {
  return {
    value: 0,
    lines() {
      return [lineOf(name, labels, this.value)];
    },
  };
}

function createHistogram(name: MetricName, labels: Labels): Series & Histogram {
  const { buckets = [] }: Definition = definitions[name];
  const counts = new Array<number>(buckets.length + 1).fill(0); // the last is what is above all bounds
  let sum = 0;
  return {
    observe(value) {
      sum += value;
      let at = 0;
      while (at < buckets.length && value > (buckets[at] as number)) at++;
      counts[at] = (counts[at] as number) + 1;
    },
    lines() {
      let count = 0;
      const ofBuckets = counts.map((own, index) => {
        count += own;
        return lineOf(`${name}_bucket`, { ...labels, le: String(buckets[index] ?? '+Inf') }, count);
      });
      return [...ofBuckets, lineOf(`${name}_sum`, labels, sum), lineOf(`${name}_count`, labels, count)];
    },
  };
}

function lineOf(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
