import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallNode } from '../../../test/helpers/call-trees/model.ts';
import { createRandom, type Random } from '../../../test/helpers/random.ts';
import { volume } from '../../../test/helpers/volume.ts';
import { type Span, start, type TraceContext } from '../src/index.ts';
import { expectedSpan, withAllWithin } from './support/expected-spans.ts';
import { createManualClock } from './support/manual-clock.ts';
import { type Command, command, makePuppet } from './support/puppet.ts';
import { spanTree } from './support/span-tree.ts';

const puppet = makePuppet();
const runCount = volume(100, 500);
const maxSteps = 200;
const firstFunction = 4; // after the host's import and the three hooks
const stepsNs = [0, 1, 999, 20_000];

/** A context, what is open in it, and the roots that have ended with the call of another context that each lay in. */
interface Traced {
  readonly context: TraceContext;
  readonly open: CallNode[];
  readonly roots: { readonly node: CallNode; readonly within: CallNode | undefined }[];
  readonly batches: (readonly Span[])[];
}

/** A call that the host makes: in which context, and the calls in it that are open. */
interface Turn {
  readonly traced: Traced;
  readonly open: { readonly node: CallNode; readonly isCaught: boolean }[];
}

/** Calls instances from within each other at random, and compares the spans with the calls that the test made. */
function check(seed: number): { spans: number; joined: number } {
  const random = createRandom(seed);
  const clock = createManualClock();
  const times = [clock.nowNs()];
  const turns: Turn[] = [];
  let steps = 0;

  const contexts = [0, 1].map((): Traced => {
    const batches: (readonly Span[])[] = [];
    const context: TraceContext = start(puppet, {
      spanFilter: { minDurationMicroseconds: 0 },
      exporters: [{ export: (spans) => void batches.push(spans) }],
      // The host knows in which of its modules it is.
      parent: () => turns.findLast(({ traced }) => traced.context !== context)?.traced.context.traceparent(),
      clock,
    });
    return { context, open: [], roots: [], batches };
  });
  /** Two instances of the one, one of the other. */
  const instances = [0, 0, 1].map((place) => {
    const traced = contexts[place] as Traced;
    const { exports } = traced.context.instantiateSync({ host: { next } });
    return { traced, call: exports.a as (unused: number) => void };
  });

  function enter(): void {
    const { traced, call } = random.pick(instances);
    const around = traced.open.at(-1);
    const within = around === undefined ? turns.at(-1)?.open.at(-1)?.node : undefined;
    const turn: Turn = { traced, open: [] };
    turns.push(turn);
    const root = open(turn, 0, false, around?.calls);
    try {
      call(0);
      assert.equal(turn.open.length, 0, `seed ${seed}: what returns has left its calls`);
    } finally {
      turns.pop();
      if (around === undefined) traced.roots.push({ node: root, within });
    }
  }
  function next(): Command {
    const turn = turns.at(-1) as Turn;
    clock.moveNs(random.pick(stepsNs));
    times.push(clock.nowNs());
    if (++steps < maxSteps && turns.length < 5 && random.chance(0.15)) enterFrom(turn);
    const chosen = steps < maxSteps ? chooseCommand(random) : command.leave;
    perform(turn, chosen);
    return chosen;
  }
  function enterFrom(turn: Turn): void {
    const catches = random.chance(0.6);
    try {
      enter();
    } catch (error) {
      if (catches) return;
      if (error instanceof WebAssembly.RuntimeError) leaveAll(turn);
      else unwind(turn);
      throw error;
    }
  }
  function open({ traced, open }: Turn, index: number, isCaught: boolean, siblings: CallNode[] | undefined): CallNode {
    const tick = times.length - 1;
    const node: CallNode = { index, startTick: tick, endTick: tick, ending: 'exit', calls: [], growths: [] };
    siblings?.push(node);
    open.push({ node, isCaught });
    traced.open.push(node);
    return node;
  }
  /** Ends the innermost call; whether its caller would catch what was thrown in it. */
  function close({ traced, open }: Turn, ending: CallNode['ending']): boolean {
    const { node, isCaught } = open.pop() ?? {};
    assert.equal(traced.open.pop(), node);
    Object.assign(node ?? {}, { ending, endTick: times.length - 1 });
    return isCaught ?? true;
  }
  function leaveAll(turn: Turn): void {
    while (turn.open.length > 0) close(turn, 'trap');
  }
  function unwind(turn: Turn): void {
    while (turn.open.length > 0 && !close(turn, 'exit'));
  }
  function perform(turn: Turn, chosen: Command): void {
    const innermost = turn.open.at(-1)?.node;
    if (chosen === command.leave) close(turn, 'exit');
    else if (chosen === command.grow) innermost?.growths.push({ tick: times.length - 1, pages: 1 });
    else if (chosen === command.trap) leaveAll(turn);
    else if (chosen === command.throw) unwind(turn);
    else open(turn, chosen === command.callA ? 0 : 1, chosen === command.catchB, innermost?.calls);
  }

  while (steps < maxSteps) {
    try {
      enter();
    } catch (error) {
      assert.ok(error instanceof WebAssembly.RuntimeError || error instanceof WebAssembly.Exception, String(error));
    }
  }

  const timeNs = (tick: number) => times[tick] as number;
  const spanOf = new Map<CallNode, Span>();
  for (const { roots, batches, context } of contexts) {
    assert.deepEqual(
      batches.map((batch) => spanTree(batch, clock.originUnixNano, (index) => index - firstFunction)),
      roots.map(({ node }) => expectedSpan(node, timeNs, 0)),
      `seed ${seed}`,
    );
    assert.equal(context.statistics().dropped.unmatched, 0, `seed ${seed}`);
    // No call is folded, so spans come in the order of the calls.
    for (const [place, { node }] of roots.entries()) {
      for (const [index, call] of withAllWithin(node).entries()) spanOf.set(call, batches[place]?.[index] as Span);
    }
  }
  const all = contexts.flatMap(({ roots }) => roots);
  for (const { node, within } of all) {
    const root = spanOf.get(node) as Span;
    const around = within && spanOf.get(within);
    assert.equal(root.parentSpanId, around?.spanId, `seed ${seed}: a root lies in the call that led to it`);
    if (around) assert.equal(root.traceId, around.traceId, `seed ${seed}`);
  }
  return { spans: spanOf.size, joined: all.filter(({ within }) => within !== undefined).length };
}

function chooseCommand(random: Random): Command {
  const { leave, callA, callB, trap, grow, throw: raise, catchB } = command;
  const kind = random.below(100);
  if (kind < 6) return kind < 2 ? trap : raise;
  return random.pick([leave, leave, callA, callB, catchB, grow]);
}

describe('start() for instances and modules that call each other', () => {
  it(`nests calls of one context, and joins traces of two, in ${runCount} ways`, (test) => {
    let spans = 0;
    let joined = 0;
    for (let seed = 1; seed <= runCount; seed++) {
      const tally = check(seed);
      spans += tally.spans;
      joined += tally.joined;
    }
    test.diagnostic(`${spans} spans, ${joined} traces that lie in another module's call`);
    assert.ok(spans > 20 * runCount && joined > runCount);
  });
});
