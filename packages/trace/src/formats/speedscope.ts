import type { Span } from '../span.ts';
import { firstStart, type SpanTree, walkTrees } from '../span-tree.ts';
import { lanesOf } from './lanes.ts';

export interface SpeedscopeOptions {
  /** The name of the profile. Default: the name of the first root. */
  readonly name?: string | undefined;
}

/** https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources */
interface EventedProfile {
  readonly type: 'evented';
  readonly name: string;
  readonly unit: 'nanoseconds';
  readonly startValue: number;
  readonly endValue: number;
  readonly events: readonly { readonly type: 'O' | 'C'; readonly frame: number; readonly at: number }[];
}

interface SpeedscopeFrame {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
}

/** The position of a span's function among the frames. */
type NumberFrame = (span: Span) => number;

/**
 * Writes spans in speedscope's format, https://www.speedscope.app/file-format-schema.json, with an open and a close event per call, in
 * nanoseconds since the first span. Overlapping calls are in separate profiles.
 *
 * @returns JSON
 */
export function speedscope(spans: readonly Span[], options: SpeedscopeOptions = {}): string {
  const start = firstStart(spans);
  const frames = new Map<string, number>();
  const described: SpeedscopeFrame[] = [];
  const numberOf: NumberFrame = ({ name, function: traced }) => {
    const { file, line } = traced ?? {};
    const key = JSON.stringify([name, file, line]);
    const known = frames.get(key);
    if (known !== undefined) return known;
    frames.set(key, frames.size);
    return described.push({ name, ...(file !== undefined && { file }), ...(line !== undefined && { line }) }) - 1;
  };
  const lanes = lanesOf(spans);
  const name = options.name ?? lanes[0]?.[0]?.span.name ?? 'nothing was traced';
  const profiles = lanes.map((trees, lane) =>
    profileOf(trees, lanes.length === 1 ? name : `${name} (${lane + 1})`, numberOf, start),
  );
  return `${JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    name,
    exporter: '@tenon/trace',
    activeProfileIndex: 0,
    shared: { frames: described },
    profiles,
  })}\n`;
}

function profileOf(trees: readonly SpanTree[], name: string, numberOf: NumberFrame, start: bigint): EventedProfile {
  const events: EventedProfile['events'][number][] = [];
  walkTrees(trees, {
    enter: ({ span }) => events.push({ type: 'O', frame: numberOf(span), at: Number(span.startTimeUnixNano - start) }),
    leave: ({ span }) => events.push({ type: 'C', frame: numberOf(span), at: Number(span.endTimeUnixNano - start) }),
  });
  const [first, last] = [events[0]?.at ?? 0, events.at(-1)?.at ?? 0];
  return { type: 'evented', name, unit: 'nanoseconds', startValue: first, endValue: last, events };
}
