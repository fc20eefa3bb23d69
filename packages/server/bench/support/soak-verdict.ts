/** A row of the sampler's CSV: numbers by column. */
export type Sample = Readonly<Record<string, number>>;

/** Growth of resident memory below this part of it an hour is the noise of the heap and of the allocator. */
const levelPerHour = 0.15;

const MiB = 1024 * 1024;

/** @param csv with a line of column names */
export function readSamples(csv: string): Sample[] {
  const [head = '', ...lines] = csv.trim().split('\n');
  const columns = head.split(',');
  return lines.map((line) => {
    const numbers = line.split(',').map(Number);
    return Object.fromEntries(columns.map((column, at) => [column, numbers[at] ?? Number.NaN]));
  });
}

/** The slope of a column over the samples, by least squares, per hour. */
export function slopePerHour(samples: readonly Sample[], column: string): number {
  const points = samples.map((sample) => [(sample.seconds ?? 0) / 3600, sample[column] ?? 0] as const);
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** Where each column begins and ends, its slope over the last third, and whether resident memory levels off. */
export function describeSoak(samples: readonly Sample[]): string {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return 'nothing was sampled';
  const end = samples.slice(-Math.max(2, Math.floor(samples.length / 3)));
  const lines = ['rss', 'heapUsed', 'external', 'arrayBuffers'].map((column) => {
    const [from, to] = [first, last].map((sample) => Math.round((sample[column] ?? 0) / MiB));
    const most = Math.round(Math.max(...samples.map((sample) => sample[column] ?? 0)) / MiB);
    const slope = (slopePerHour(end, column) / MiB).toFixed(1);
    return `${column}: ${from} to ${to} MiB, at most ${most}; last third: ${slope} MiB an hour`;
  });
  for (const column of ['fds', 'handles']) lines.push(`${column}: ${first[column]} to ${last[column]}`);
  const isLevel = slopePerHour(end, 'rss') < levelPerHour * (last.rss ?? 0);
  const load = (last.cpuSeconds ?? 0) / (last.seconds ?? 1);
  lines.push(`processor: ${(load * 100).toFixed(0)} % of one core`);
  lines.push(`verdict: resident memory ${isLevel ? 'levels off' : 'GROWS'} in the last third`);
  return lines.join('\n');
}
