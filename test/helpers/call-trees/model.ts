import {
  describeValue,
  type Exit,
  type HostAction,
  type Program,
  resultsOf,
  type Statement,
  thrownPayload,
} from './program.ts';

/** `enter` and `exit` with the index in the input's index space, `grow` with pages. */
export type Event = `enter ${number}` | `exit ${number}` | `grow ${number}`;

/** How a call from the host ends, as text. */
export type Outcome = string;

/** One call of a traced function. A tick is an event's place among all events since the model was made, from 1 on. */
export interface CallNode {
  readonly index: number;
  readonly startTick: number;
  /** That of `exit`; where there was none, that of the last event before the host saw what happened. */
  endTick: number;
  /** `exit`, or what took the call away without one. */
  ending: 'exit' | 'trap' | 'thrown';
  readonly calls: CallNode[];
  /** Growth that was reported while this call was the innermost. */
  readonly growths: { readonly tick: number; readonly pages: number }[];
}

export interface Model {
  /** What instantiation makes of the start function; undefined without one. */
  readonly start: () => Outcome | undefined;
  readonly call: (index: number, fuel: number) => Outcome;
  /** All events since the last take. */
  readonly takeEvents: () => Event[];
  /** The calls since the last take that lay within no other. */
  readonly takeRoots: () => CallNode[];
}

/** The program takes more steps than is worth running. */
export class TooLong extends Error {}

interface Thrown {
  readonly kind: 'thrown';
  readonly tag: number | 'host';
  /** Set by `delegate`: scopes of a larger index don't catch it. */
  readonly past?: number | undefined;
}
interface Left {
  readonly kind: 'left';
  readonly values: readonly number[];
}
interface Tail {
  readonly kind: 'tail';
  readonly path: string;
  readonly target: number;
}
interface Broken {
  readonly kind: 'break';
  readonly scope: number;
}
interface Trapped {
  readonly kind: 'trap';
}
/** Undefined: continues with the next statement. */
type Flow = Thrown | Left | Tail | Broken | Trapped | undefined;
type Ended = Thrown | Left | Trapped;

interface Frame {
  readonly index: number;
  readonly fuel: number;
  /** Per open scope, what its handler caught. */
  readonly caught: (Thrown | undefined)[];
}

/** What 32-bit addresses reach. Programs ask for a few pages, or for more than any engine gives. */
const maxPages = 65_536;

/** Runs programs by their meaning. `maxSteps` bounds what is run from here to the end of the model's life. */
export function createModel(program: Program, maxSteps: number): Model {
  const { imports, functions, memories, traced } = program;
  const handlesExceptions = program.generation !== 'none';
  const events: Event[] = [];
  const roots: CallNode[] = [];
  const open: CallNode[] = [];
  let tick = 0;
  const sizes = memories.map(({ visibility, initial, minimum }) => (visibility === 'imported' ? initial : minimum));
  const canGrow = (memory: number) => (memories[memory]?.maximum ?? maxPages) > (memories[memory]?.minimum ?? 0);
  const watched = memories.flatMap(({ visibility, isShared }, index) =>
    imports.length > 0 && visibility !== 'hidden' && !isShared && canGrow(index) ? [index] : [],
  );
  const reported = memories.map(({ visibility, minimum }) => (visibility === 'imported' ? undefined : minimum));
  const looksFirst = watched.some((index) => memories[index]?.visibility === 'imported');
  let steps = 0;
  let isInstantiated = false;

  const emit = (event: Event) => {
    if (++steps > maxSteps) throw new TooLong();
    events.push(event);
    tick++;
  };
  const reportGrowth = (pages: number) => {
    emit(`grow ${pages}`);
    open.at(-1)?.growths.push({ tick, pages });
  };
  const enter = (index: number) => {
    if (!traced[index]) return;
    emit(`enter ${index}`);
    const node: CallNode = { index, startTick: tick, endTick: tick, ending: 'exit', calls: [], growths: [] };
    (open.at(-1)?.calls ?? roots).push(node);
    open.push(node);
  };
  const exit = (index: number) => {
    if (!traced[index]) return;
    emit(`exit ${index}`);
    const node = open.pop();
    if (node?.index !== index) throw new Error(`${index} is left while ${node?.index} is the innermost`);
    node.endTick = tick;
  };
  /** A call from the host: whatever it leaves open has come to its end where the host goes on. */
  const fromHost = (action: () => Ended): Ended => {
    const depth = open.length;
    const ended = action();
    for (const node of open.splice(depth)) {
      if (ended.kind === 'left') throw new Error(`${node.index} is still open after a return`);
      node.endTick = tick;
      node.ending = ended.kind;
    }
    return ended;
  };

  function grow(memory: number, pages: number): boolean {
    const size = (sizes[memory] as number) + pages;
    if (size > (memories[memory]?.maximum ?? maxPages)) return false;
    sizes[memory] = size;
    return true;
  }
  function reportHostGrowth(): void {
    for (const memory of watched) {
      const size = sizes[memory] as number;
      const last = reported[memory] ?? size;
      if (size > last) reportGrowth(size - last);
      reported[memory] = size;
    }
  }
  function growInside(memory: number, pages: number): void {
    const isWatched = watched.includes(memory);
    if (isWatched) reportHostGrowth();
    if (!grow(memory, pages)) return;
    if (isWatched) reported[memory] = sizes[memory];
    if (pages > 0) reportGrowth(pages);
  }

  function callImport(index: number, fuel: number, isWrapped: boolean): Ended {
    const wraps = isWrapped && (traced[index] || watched.length > 0);
    const grown = wraps && watched.length > 0;
    if (grown && looksFirst) reportHostGrowth();
    enter(index);
    if (!wraps) exit(index);
    const ended = runHost(imports[index]?.actions ?? [], fuel) ?? {
      kind: 'left',
      values: imports[index]?.values ?? [],
    };
    const isSeen = ended.kind === 'left' || (ended.kind === 'thrown' && handlesExceptions && traced[index]);
    if (wraps && isSeen) {
      if (grown) reportHostGrowth();
      exit(index);
    }
    return ended;
  }
  function runHost(actions: readonly HostAction[], fuel: number): Thrown | Trapped | undefined {
    for (const action of actions) {
      if (++steps > maxSteps) throw new TooLong();
      if (action.act === 'throw') return { kind: 'thrown', tag: isInstantiated ? action.tag : 'host' };
      if (!isInstantiated) continue;
      if (action.act === 'grow') grow(action.memory, action.pages);
      else if (fuel > 0) {
        const ended = fromHost(() => callFunction(action.target, fuel - 1));
        if (ended.kind !== 'left' && !action.catches) return ended;
      }
    }
    return undefined;
  }

  function call(index: number, fuel: number): Ended {
    return index < imports.length ? callImport(index, fuel, true) : callFunction(index, fuel);
  }
  function callFunction(index: number, fuel: number): Ended {
    if (++steps > maxSteps) throw new TooLong();
    const own = functions[index - imports.length];
    if (own === undefined) throw new Error(`There is no function ${index}`);
    const frame: Frame = { index, fuel, caught: [] };
    enter(index);
    const flow = (fuel === 0 ? leave(frame, own.leaf) : run(frame, own.body)) ?? { kind: 'left', values: own.values };
    if (flow.kind === 'tail') {
      exit(index);
      // Only a direct tail call goes past the wrapper of an import.
      if (flow.target < imports.length) return callImport(flow.target, fuel - 1, flow.path !== 'direct');
      return callFunction(flow.target, fuel - 1);
    }
    if (flow.kind === 'break') throw new Error('A break left its function');
    if (flow.kind === 'left' || (flow.kind === 'thrown' && handlesExceptions)) exit(index);
    return flow.kind === 'thrown' ? { ...flow, past: undefined } : flow;
  }

  function run(frame: Frame, statements: readonly Statement[]): Flow {
    for (const statement of statements) {
      const flow = step(frame, statement);
      if (flow !== undefined) return flow;
    }
    return undefined;
  }
  function step(frame: Frame, statement: Statement): Flow {
    const scopeOf = (scopesOut: number) => frame.caught.length - 1 - scopesOut;
    switch (statement.do) {
      case 'call': {
        const ended = call(statement.target, frame.fuel - 1);
        return ended.kind === 'left' ? undefined : ended;
      }
      case 'block':
        return inScope(frame, () => run(frame, statement.body));
      case 'break':
        return { kind: 'break', scope: scopeOf(statement.scopesOut) };
      case 'when':
        return run(frame, frame.fuel & statement.bit ? statement.yes : statement.no);
      case 'grow':
        if (canGrow(statement.memory)) growInside(statement.memory, statement.pages);
        else grow(statement.memory, statement.pages);
        return undefined;
      case 'stay':
        return undefined;
      case 'try':
        return inScope(frame, () => handle(frame, run(frame, statement.body), statement.handlers));
      case 'delegate':
        return inScope(frame, () => {
          const scope = frame.caught.length - 1;
          const flow = run(frame, statement.body);
          const isMine = flow?.kind === 'thrown' && (flow.past === undefined || flow.past >= scope);
          return isMine ? { ...flow, past: scopeOf(statement.scopesOut) } : flow;
        });
      case 'catchToFunction': {
        const flow = inScope(frame, () => run(frame, statement.body));
        return flow?.kind === 'thrown' && flow.tag === 0 ? { kind: 'left', values: [thrownPayload] } : flow;
      }
      case 'rethrow':
        return frame.caught[scopeOf(statement.scopesOut)];
      case 'exit':
        return leave(frame, statement.exit);
    }
  }
  /** Runs what stands in a block or try, from which a break leads here. */
  function inScope(frame: Frame, body: () => Flow): Flow {
    const scope = frame.caught.push(undefined) - 1;
    const flow = body();
    frame.caught.pop();
    return flow?.kind === 'break' && flow.scope === scope ? undefined : flow;
  }
  function handle(frame: Frame, flow: Flow, handlers: Extract<Statement, { do: 'try' }>['handlers']): Flow {
    if (flow?.kind !== 'thrown') return flow;
    const scope = frame.caught.length - 1;
    if (flow.past !== undefined && flow.past < scope) return flow;
    const handler = handlers.find(({ tag }) => tag === 'all' || tag === flow.tag);
    if (handler === undefined) return { ...flow, past: undefined };
    frame.caught[scope] = { ...flow, past: undefined };
    return run(frame, handler.body);
  }
  function leave(frame: Frame, way: Exit): Flow {
    if (way.by === 'throw') return { kind: 'thrown', tag: way.tag };
    if (way.by === 'tail') return { kind: 'tail', path: way.path, target: way.target };
    if (way.by !== 'trap') return { kind: 'left', values: way.values };
    if (way.trap === 'nullTailCall') exit(frame.index);
    return { kind: 'trap' };
  }

  const describe = (index: number, ended: Ended): Outcome => {
    if (ended.kind === 'trap') return 'trap';
    if (ended.kind === 'thrown') return `thrown ${ended.tag}`;
    return resultsOf(program, index)
      .map((type, place) => describeValue(type, ended.values[place]))
      .join();
  };
  return {
    start() {
      const { start } = program;
      const boot = imports.length + functions.length;
      let ended: Ended = { kind: 'left', values: [] };
      if (start !== undefined) {
        ended = fromHost(() => {
          enter(boot);
          const inner = call(start.target, start.fuel);
          if (inner.kind === 'left' || (inner.kind === 'thrown' && handlesExceptions)) exit(boot);
          return inner;
        });
      }
      isInstantiated = true;
      // The thrown value is unknown without the exports.
      return ended.kind === 'left' ? undefined : ended.kind;
    },
    call: (index, fuel) =>
      describe(
        index,
        fromHost(() => call(index, fuel)),
      ),
    takeEvents: () => events.splice(0),
    takeRoots: () => roots.splice(0),
  };
}
