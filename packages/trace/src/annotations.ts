import { column, type Fiber, special, stride } from './fiber.ts';
import { type Collecting, closeManual, extraAt, has, innermostSpan, leaveTooDeep, mark, openFrame } from './frames.ts';
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

export function createAnnotations(now: () => number, collecting: Collecting, current: () => Fiber): Annotations {
  const { counters, limits, dropped } = collecting;
  const addEvent: Annotations['addEvent'] = (name, attributes) => {
    const fiber = current();
    const at = innermostSpan(fiber);
    const extra = at === 0 ? undefined : extraAt(fiber, at);
    if (extra === undefined || extra.events.length >= limits.events) {
      dropped.events++;
      if (extra !== undefined) extra.droppedEvents++;
      return;
    }
    extra.events.push({ name, time: now(), attributes });
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
        mark(fiber, at, special.content);
        const func = frames[at + column.func] as number;
        if (!Number.isNaN(func)) counters?.grow(func, count);
      }
      addEvent('memory.grow', new Map([['pages', count]]));
    },
    spanEnter(name) {
      const fiber = current();
      if (openFrame(fiber, collecting, Number.NaN, now(), special.manual)) extraAt(fiber, fiber.top).name = name;
    },
    spanExit() {
      const end = now();
      const fiber = current();
      if (!leaveTooDeep(fiber, collecting)) closeManual(fiber, collecting, end);
    },
    tag(attributes) {
      const fiber = current();
      const at = innermostManual(fiber) || innermostSpan(fiber);
      const extra = at === 0 ? undefined : extraAt(fiber, at);
      for (const [key, value] of attributes) {
        if (extra !== undefined && (extra.attributes.has(key) || extra.attributes.size < limits.attributes)) {
          extra.attributes.set(key, value);
          continue;
        }
        dropped.attributes++;
        if (extra !== undefined) extra.droppedAttributes++;
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
  while (at > 0 && !has(fiber, at, special.manual | special.boundary)) at -= stride;
  return has(fiber, at, special.manual) ? at : 0;
}
