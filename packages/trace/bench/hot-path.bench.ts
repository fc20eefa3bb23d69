/**
 * What one traced call costs that gets no span: an `enter`/`exit` pair of an empty function, beside two readings of the clock
 * and other ways to collect. Each way runs in processes of its own, since engines make code for what they have seen; these take
 * turns, and the best time of each counts. On a busy machine only the ratios mean something.
 *
 *     node packages/trace/bench/hot-path.bench.ts [turns]
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { start, systemClock, type TraceOptions } from '../src/index.ts';
import { companionRecorder, type Hooks, loopModule, objectRecorder } from './support/rival-recorders.ts';

const module = loopModule();
const clock = systemClock();
/** Costs next to nothing, and shows what a recorder does beside reading the clock. */
const stillClock = { now: () => 0, wallNow: () => 0 };

/** Nanoseconds since 1970 as a number, for each event: what many adapters take, though a double has no room for them. */
const sinceEpochNow = () => (performance.now() + performance.timeOrigin) * 1e6;

type Loop = (count: number) => void;

const loopOf = ({ enter, exit }: Hooks): Loop =>
  new WebAssembly.Instance(module, { 'dylibso:observe/instrument': { enter, exit } }).exports.run as Loop;

function adapter(options: TraceOptions): Loop {
  const { enter, exit } = start(module, options).imports['dylibso:observe/instrument'] as Record<
    'enter' | 'exit',
    Loop
  >;
  return loopOf({ enter, exit });
}

function readClockTwice(now: () => number): Loop {
  let sum = 0;
  return (count) => {
    for (let index = 0; index < count; index++) sum += now() - now();
    if (Number.isNaN(sum)) throw new Error('the clock tells no time');
  };
}

const loops = {
  'two readings of the clock': () => readClockTwice(clock.now),
  'hooks that do nothing': () => loopOf({ enter() {}, exit() {} }),
  'the adapter': () => adapter({}),
  'the adapter, with statistics': () => adapter({ statistics: true }),
  'a companion module': () => loopOf(companionRecorder(clock.now)),
  'an object per call, filtered at its exit': () => loopOf(objectRecorder(clock.now, false)),
  'an object per call, filtered at the end': () => loopOf(objectRecorder(clock.now, true)),
  'an object per call, its time since 1970': () => loopOf(objectRecorder(sinceEpochNow, false, 20_000)),
  'without a clock: the adapter': () => adapter({ clock: stillClock }),
  'without a clock: an object, at its exit': () => loopOf(objectRecorder(stillClock.now, false)),
  'without a clock: an object, at the end': () => loopOf(objectRecorder(stillClock.now, true)),
  'a span made and exported': () =>
    adapter({
      spanFilter: { minDurationMicroseconds: 0 },
      exporters: [{ export() {} }],
      limits: { spans: callsPerRound + 1 },
    }),
  'a call of a bound export': () => {
    const call = start(module).instantiateSync().exports.nothing as () => void;
    return (count) => {
      for (let index = 0; index < count; index++) call();
    };
  },
} satisfies Record<string, () => Loop>;

type Way = keyof typeof loops;
/** In one root, as many as a script makes in an interpreter within some milliseconds. */
const callsPerRound = 1_000_000;
const rounds = 6;

function measureNs(way: Way): number {
  const loop = loops[way]();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    loop(callsPerRound);
    best = Math.min(best, ((performance.now() - begin) * 1e6) / callsPerRound);
  }
  return best;
}

function compareAll(turns: number): void {
  const best = new Map<Way, number>();
  for (let turn = 0; turn < turns; turn++) {
    for (const way of Object.keys(loops) as Way[]) {
      const { stdout } = spawnSync(process.execPath, [import.meta.filename, '--way', way], { encoding: 'utf8' });
      best.set(way, Math.min(best.get(way) ?? Number.POSITIVE_INFINITY, Number(stdout)));
    }
  }
  for (const [way, ns] of best) console.log(`${way.padEnd(42)} ${ns.toFixed(1).padStart(8)} ns`);
  const of = (way: Way) => best.get(way) ?? Number.NaN;
  const pair = of('the adapter');
  const crossing = of('hooks that do nothing');
  const beside = (way: Way) => (of(way) - crossing) / (of('without a clock: the adapter') - crossing);
  const times = (text: string, ratio: number) =>
    console.log(`${text.padEnd(66)} ${ratio.toFixed(2).padStart(6)} times`);
  console.log();
  times('a folded pair, to two readings of the clock:', pair / of('two readings of the clock'));
  times('an object per call to that, filtered at its exit:', of('an object per call, filtered at its exit') / pair);
  times('an object per call to that, filtered at the end:', of('an object per call, filtered at the end') / pair);
  times(
    'the same without clock and crossing, filtered at its exit:',
    beside('without a clock: an object, at its exit'),
  );
  times('an object per call to that, its time since 1970:', of('an object per call, its time since 1970') / pair);
  times('the same without clock and crossing, filtered at the end:', beside('without a clock: an object, at the end'));
}

const [first, way] = process.argv.slice(2);
if (first === '--way') console.log(measureNs(way as Way));
else compareAll(Number(first ?? 2));
