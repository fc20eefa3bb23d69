import type { Span } from '../span.ts';
import { walkTrees } from '../span-tree.ts';
import { callTrees } from './call-tree.ts';

export interface FoldedStacksOptions {
  /** The time of deeper calls is added to their caller at this depth, since each line lists its whole stack. Default: 500. */
  readonly maxDepth?: number | undefined;
}

/**
 * Writes spans as folded stacks, `main;parse;next 1234`, what `flamegraph.pl` and inferno draw: for each stack the nanoseconds spent in
 * its last function itself. Lines are in the order in which the stacks were first seen; a stack with no self time gets no line.
 *
 * `;`, which the format can't hold, becomes `:`; control characters, including line breaks, become a space.
 */
export function foldedStacks(spans: readonly Span[], options: FoldedStacksOptions = {}): string {
  const { maxDepth = 500 } = options;
  const stack: string[] = [];
  const selfTimes = new Map<string, bigint>();
  walkTrees(callTrees(spans, true), {
    enter(tree, depth) {
      if (depth < maxDepth) stack.push(foldable(tree.name));
      if (tree.selfTimeNano === 0n) return;
      const line = stack.join(';');
      selfTimes.set(line, (selfTimes.get(line) ?? 0n) + tree.selfTimeNano);
    },
    leave(_, depth) {
      if (depth < maxDepth) stack.pop();
    },
  });
  return [...selfTimes].map(([line, selfTimeNano]) => `${line} ${selfTimeNano}\n`).join('');
}

function foldable(name: string): string {
  return name.replaceAll(';', ':').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}
