import { type CallStack, column, flag, stride } from './call-stack.ts';
import { closeManual, detailsAt, hasFlag, leaveTooDeep, openFrame, type RecordingContext, setFlag } from './frames.ts';
import type { AttributeValue } from './span.ts';

/** Reports of modules other than the start and end of calls: growth, manual spans, tags, and events. */
export interface Annotations {
  readonly memoryGrow: (pages: number) => void;
  readonly spanEnter: (name: string) => void;
  readonly spanExit: () => void;
  /** Attributes of the innermost manual span, else of the innermost call. */
  readonly tag: (attributes: ReadonlyMap<string, AttributeValue>) => void;
  /** An event of the innermost call. */
  readonly addEvent: (name: string, attributes: ReadonlyMap<string, AttributeValue>) => void;
  /** Counts reports that could not be read. */
  readonly dropText: (kind: 'events' | 'attributes') => void;
}

export function createAnnotations(now: () => number, context: RecordingContext, stack: CallStack): Annotations {
  const { counters, limits, dropped } = context;
  const addEvent: Annotations['addEvent'] = (name, attributes) => {
    const at = stack.top;
    const details = at === 0 ? undefined : detailsAt(stack, at);
    if (details === undefined || details.events.length >= limits.events) {
      dropped.events++;
      if (details !== undefined) details.droppedEvents++;
      return;
    }
    details.events.push({ name, time: now(), attributes });
  };
  return {
    addEvent,
    memoryGrow(pages) {
      const at = stack.top;
      const count = pages >>> 0;
      if (at !== 0) {
        const { frames } = stack;
        frames[at + column.pages] = (frames[at + column.pages] as number) + count;
        setFlag(stack, at, flag.needsSlowExit);
        const func = frames[at + column.func] as number;
        if (!Number.isNaN(func)) counters?.grow(func, count);
      }
      addEvent('memory.grow', new Map([['pages', count]]));
    },
    spanEnter(name) {
      if (openFrame(stack, context, Number.NaN, now(), flag.manual)) detailsAt(stack, stack.top).name = name;
    },
    spanExit() {
      const end = now();
      if (!leaveTooDeep(stack)) closeManual(stack, context, end);
    },
    tag(attributes) {
      const at = innermostManual(stack) || stack.top;
      const details = at === 0 ? undefined : detailsAt(stack, at);
      for (const [key, value] of attributes) {
        if (details !== undefined && (details.attributes.has(key) || details.attributes.size < limits.attributes)) {
          details.attributes.set(key, value);
          continue;
        }
        dropped.attributes++;
        if (details !== undefined) details.droppedAttributes++;
      }
    },
    dropText(kind) {
      dropped[kind]++;
    },
  };
}

/** The innermost manual span since the host last called into the module; 0 without one. */
function innermostManual(stack: CallStack): number {
  let at = stack.top;
  while (at > stack.floor && !hasFlag(stack, at, flag.manual)) at -= stride;
  return at > stack.floor ? at : 0;
}
