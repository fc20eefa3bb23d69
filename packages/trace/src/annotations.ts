import { column, type Fiber, flag, stride } from './fiber.ts';
import {
  closeManual,
  detailsAt,
  hasFlag,
  innermostSpan,
  leaveTooDeep,
  openFrame,
  type RecordingContext,
  setFlag,
} from './frames.ts';
import type { AttributeValue } from './span.ts';

/** What is told of calls beside that they begin and end, and the spans that authors open by hand. */
export interface Annotations {
  readonly memoryGrow: (pages: number) => void;
  readonly spanEnter: (name: string) => void;
  readonly spanExit: () => void;
  /** Attributes of the innermost manual span, else of the innermost call. */
  readonly tag: (attributes: ReadonlyMap<string, AttributeValue>) => void;
  /** Something that happened in the innermost call. */
  readonly addEvent: (name: string, attributes: ReadonlyMap<string, AttributeValue>) => void;
  /** Counts what a module reported and couldn't be read. */
  readonly dropText: (kind: 'events' | 'attributes') => void;
}

export function createAnnotations(now: () => number, context: RecordingContext, current: () => Fiber): Annotations {
  const { counters, limits, dropped } = context;
  const addEvent: Annotations['addEvent'] = (name, attributes) => {
    const fiber = current();
    const at = innermostSpan(fiber);
    const details = at === 0 ? undefined : detailsAt(fiber, at);
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
      const fiber = current();
      const at = innermostSpan(fiber);
      const count = pages >>> 0;
      if (at !== 0) {
        const { frames } = fiber;
        frames[at + column.pages] = (frames[at + column.pages] as number) + count;
        setFlag(fiber, at, flag.content);
        const func = frames[at + column.func] as number;
        if (!Number.isNaN(func)) counters?.grow(func, count);
      }
      addEvent('memory.grow', new Map([['pages', count]]));
    },
    spanEnter(name) {
      const fiber = current();
      if (openFrame(fiber, context, Number.NaN, now(), flag.manual)) detailsAt(fiber, fiber.top).name = name;
    },
    spanExit() {
      const end = now();
      const fiber = current();
      if (!leaveTooDeep(fiber, context)) closeManual(fiber, context, end);
    },
    tag(attributes) {
      const fiber = current();
      const at = innermostManual(fiber) || innermostSpan(fiber);
      const details = at === 0 ? undefined : detailsAt(fiber, at);
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

/** The innermost manual span since the host last called into the module; 0 if there is none. */
function innermostManual(fiber: Fiber): number {
  let at = fiber.top;
  while (at > 0 && !hasFlag(fiber, at, flag.manual | flag.boundary)) at -= stride;
  return hasFlag(fiber, at, flag.manual) ? at : 0;
}
