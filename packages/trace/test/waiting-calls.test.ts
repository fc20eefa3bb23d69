import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { CallNode } from '../../../test/helpers/call-trees/model.ts';
import { createRandom, type Random } from '../../../test/helpers/random.ts';
import { volume } from '../../../test/helpers/volume.ts';
import { type Span, start, type TraceContext } from '../src/index.ts';
import { expectedSpan } from './support/expected-spans.ts';
import { createManualClock } from './support/manual-clock.ts';
import { type Command, command, makePuppet } from './support/puppet.ts';
import { spanTree } from './support/span-tree.ts';

const puppet = makePuppet();
const runCount = volume(100, 500);
const maxTasks = 6;
const maxCommands = 120;
const firstFunction = 4; // after the host's import and the three hooks
const stepsNs = [0, 1, 999, 19_999, 20_000, 500_000];
type Trace = Pick<TraceContext, 'promising' | 'suspending' | 'spanContext'>;

/** One call that waits every so often, and what the host has had it do. */
interface Task {
  readonly root: CallNode;
  /** Calls that are open, outermost first, and whether their caller catches what is thrown in them. */
  readonly open: { readonly node: CallNode; readonly isCaught: boolean }[];
  /** Hands the module its next command, while it waits for that. */
  answer: ((command: Command) => void) | undefined;
  /** The span of another task within which the host made the call. */
  readonly within: { readonly spanId: string; readonly traceId: string; readonly node: CallNode } | undefined;
}

/** Has calls of the puppet wait and go on in an order made at random, and compares their spans with what it did. */
async function check(seed: number): Promise<{ spans: number; nested: number }> {
  const random = createRandom(seed);
  const clock = createManualClock();
  const times = [clock.nowNs()];
  const batches: (readonly Span[])[] = [];
  const minDurationMicroseconds = random.chance(0.5) ? 0 : 20;
  const context = start(puppet, {
    spanFilter: { minDurationMicroseconds },
    exporters: [{ export: (spans) => void batches.push(spans) }],
    clock,
  });
  const tasks: Task[] = [];
  const ended: Task[] = [];
  const outcomes: Promise<unknown>[] = [];
  let commandsLeft = maxCommands;

  const next = (id: number): Promise<Command> => {
    const task = tasks[id] as Task;
    if (minDurationMicroseconds === 0 && tasks.length < maxTasks && random.chance(0.1)) launch(task);
    return new Promise((resolve) => {
      task.answer = resolve;
    });
  };
  const { exports } = context.instantiateSync({ host: { next: context.suspending(next) } } as WebAssembly.Imports);
  const call = context.promising(exports.a as (id: number) => unknown);

  function launch(around?: Task): void {
    const root = newNode(0, times.length - 1);
    const within = around && withinOf(context, around.open.at(-1)?.node as CallNode);
    tasks.push({ root, open: [{ node: root, isCaught: false }], answer: undefined, within });
    outcomes.push(call(tasks.length - 1).catch((error: unknown) => error));
  }

  launch();
  while (ended.length < tasks.length || tasks.length < 2) {
    clock.moveNs(random.pick(stepsNs));
    times.push(clock.nowNs());
    if (tasks.length < maxTasks && random.chance(0.2)) launch();
    const waiting = tasks.filter(({ answer }) => answer !== undefined);
    // Several may go on in one turn: the clock stands still, and their order is that of the answers.
    for (let count = 1 + random.below(3); count > 0 && waiting.length > 0; count--) {
      const [task] = waiting.splice(random.below(waiting.length), 1) as [Task];
      const { answer } = task;
      task.answer = undefined;
      const chosen = commandsLeft-- > 0 ? chooseCommand(random) : command.leave;
      perform(task, chosen, times.length - 1);
      if (task.open.length === 0) ended.push(task);
      answer?.(chosen);
    }
    await setImmediate();
  }
  await Promise.all(outcomes);

  const what = `seed ${seed}`;
  const timeNs = (tick: number) => times[tick] as number;
  // Calls that end in the same turn come in any order.
  const found = batches.map((batch) => ({
    batch,
    text: JSON.stringify([
      batch[0]?.parentSpanId ?? '',
      spanTree(batch, clock.originUnixNano, (index) => index - firstFunction),
    ]),
  }));
  const wanted = ended.map((task) => ({
    task,
    text: JSON.stringify([task.within?.spanId ?? '', expectedSpan(task.root, timeNs, minDurationMicroseconds * 1_000)]),
  }));
  const byText = (first: { text: string }, second: { text: string }) => (first.text < second.text ? -1 : 1);
  found.sort(byText);
  wanted.sort(byText);
  assert.deepEqual(
    found.map(({ text }) => JSON.parse(text)),
    wanted.map(({ text }) => JSON.parse(text)),
    what,
  );
  // What a call says of the span around it is true of that span.
  const spans = new Map(batches.flat().map((span) => [span.spanId, span]));
  for (const [place, { task }] of wanted.entries()) {
    if (task.within === undefined) continue;
    const { spanId, traceId, node } = task.within;
    assert.equal(found[place]?.batch[0]?.traceId, traceId, what);
    const around = spans.get(spanId);
    assert.equal(around?.traceId, traceId, what);
    assert.equal(around?.function?.index, node.index + firstFunction, what);
    assert.equal(around && Number(around.startTimeUnixNano - clock.originUnixNano), timeNs(node.startTick), what);
  }
  assert.equal(context.statistics().dropped.unmatched, 0, what);
  return { spans: batches.flat().length, nested: ended.filter(({ within }) => within !== undefined).length };
}

function withinOf(context: Trace, node: CallNode): Task['within'] {
  const { spanId, traceId } = context.spanContext() ?? { spanId: '', traceId: '' };
  return { spanId, traceId, node };
}

function newNode(index: number, tick: number): CallNode {
  return { index, startTick: tick, endTick: tick, ending: 'exit', calls: [], growths: [] };
}

function chooseCommand(random: Random): Command {
  const { leave, callA, callB, trap, grow, throw: raise, catchB } = command;
  const kind = random.below(100);
  if (kind < 5) return kind === 0 ? trap : raise;
  return random.pick([leave, leave, callA, callB, catchB, grow]);
}

/** What a command means for the tree of the task. */
function perform({ open }: Task, chosen: Command, tick: number): void {
  const end = (ending: CallNode['ending']) => {
    const last = open.pop();
    if (last === undefined) return true;
    last.node.endTick = tick;
    last.node.ending = ending;
    return last.isCaught;
  };
  if (chosen === command.leave) end('exit');
  else if (chosen === command.grow) open.at(-1)?.node.growths.push({ tick, pages: 1 });
  else if (chosen === command.trap) while (open.length > 0) end('trap');
  else if (chosen === command.throw) while (open.length > 0 && !end('exit'));
  else {
    const node = newNode(chosen === command.callA ? 0 : 1, tick);
    open.at(-1)?.node.calls.push(node);
    open.push({ node, isCaught: chosen === command.catchB });
  }
}

describe('promising() and suspending()', () => {
  it(`keep the spans of calls apart that wait and go on in any order, in ${runCount} ways`, async (test) => {
    let spans = 0;
    let nested = 0;
    for (let seed = 1; seed <= runCount; seed++) {
      const tally = await check(seed);
      spans += tally.spans;
      nested += tally.nested;
    }
    test.diagnostic(`${spans} spans, ${nested} calls made within others`);
    assert.ok(spans > 15 * runCount && nested > runCount / 3);
  });
});
