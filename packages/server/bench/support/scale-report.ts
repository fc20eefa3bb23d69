import { drawCurves } from './curves.ts';
import type { StoreName } from './stores.ts';

/** Processor time of the node that serves, in microseconds a request; and of its database besides. */
export interface Cost {
  readonly name: CostName;
  readonly cpuUs: number | undefined;
  /** `cpuUs` as a multiple of what a bare server takes for the like in the same round. */
  readonly timesBare: number | undefined;
  readonly storeCpuUs: number | undefined;
  readonly requestsPerSecond: number | undefined;
}

export type CostName = 'asked again' | 'while others commit' | 'asked first';

/** What was found with so many guest keys. */
export interface Point {
  readonly store: StoreName;
  readonly keys: number;
  readonly bindings: number;
  readonly costs: readonly Cost[];
  /** How many commits a second came from elsewhere in the second case. */
  readonly commitsPerSecond: number | undefined;
  /** Memory of the node that serves, in MiB, after the first case. */
  readonly residentMiB: number;
}

/** How wide the columns of costs are. */
const costWidths = [22, 22, 20];

export function formatTable(store: StoreName, points: readonly Point[]): string {
  const title = `${store}: processor time of one list, 304, in µs${store === 'postgres' ? ' (of the node + of the database)' : ''}, and as a multiple of a bare server’s`;
  const columns = ['keys', 'bindings', 'asked again', 'while others commit', 'asked first', 'commits/s', 'memory/MiB'];
  const widths = [11, 12, ...costWidths, 11, 11];
  const head = columns.map((name, at) => name.padStart(widths[at] ?? 0)).join('');
  return [title, head, ...points.map(formatPoint), ''].join('\n');
}

function formatPoint({ keys, bindings, costs, commitsPerSecond, residentMiB }: Point): string {
  const us = (value: number | undefined) => (value === undefined ? '' : value.toFixed(1));
  const cells = costs.map(({ name, cpuUs, timesBare, storeCpuUs }, at) => {
    const time = storeCpuUs === undefined ? us(cpuUs) : `${us(cpuUs)} + ${us(storeCpuUs)}`;
    const ratio = name === 'asked first' ? '' : `, ${timesBare?.toFixed(2)}×`;
    return `${time}${ratio}`.padStart(costWidths[at] ?? 0);
  });
  const start = `${keys.toLocaleString('en').padStart(11)}${bindings.toLocaleString('en').padStart(12)}`;
  return `${start}${cells.join('')}${(commitsPerSecond ?? 0).toFixed(0).padStart(11)}${String(residentMiB).padStart(11)}`;
}

const storeWords: Readonly<Record<StoreName, string>> = { embedded: 'embedded', postgres: 'PostgreSQL' };

/** The processor time of a list over the number of guest keys: the node's, and the database's where it is asked. */
export function drawPoints(points: readonly Point[], machine: string): string {
  const stores = [...new Set(points.map(({ store }) => store))];
  const curve = (store: StoreName, cost: CostName, words: string, timeOf: (cost: Cost) => number) => ({
    name: `${storeWords[store]}${words}`,
    colour: stores.indexOf(store),
    isDashed: cost === 'while others commit',
    points: points
      .filter((point) => point.store === store)
      .flatMap(({ keys, costs }) =>
        costs.filter(({ name }) => name === cost).map((one) => [keys, timeOf(one)] as const),
      ),
  });
  const besideBare = ({ timesBare = 0 }: Cost) => timesBare; // what the database does while others commit is those commits
  const ofBothInMs = ({ cpuUs = 0, storeCpuUs = 0 }: Cost) => (cpuUs + storeCpuUs) / 1000;
  return drawCurves(
    [
      {
        title: 'Asked for again: a bare node:http server takes 1',
        xLabel: 'guest keys, with ten plugins each',
        unit: '×',
        curves: stores.flatMap((store) => [
          curve(store, 'asked again', '', besideBare),
          curve(store, 'while others commit', ', while another node commits', besideBare),
        ]),
      },
      {
        title: 'Asked for the first time',
        xLabel: 'guest keys, with ten plugins each',
        unit: 'ms',
        curves: stores.map((store) =>
          curve(store, 'asked first', store === 'postgres' ? ', its own time included' : '', ofBothInMs),
        ),
      },
    ],
    `The processor time of a binding list (304) over the number of guest keys, on ${machine}`,
  );
}
