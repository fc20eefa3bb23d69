import { startWorker } from '../workers.ts';
import type { Answered, Asked, LookAnswers, LookQuestion } from './messages.ts';

/** A worker that looks at a module, as the page sees it. */
export interface Looker {
  /** @throws Error in words for people; nothing happens any more once the worker was ended */
  ask<Kind extends LookQuestion['kind']>(
    question: Extract<LookQuestion, { kind: Kind }>,
    transfer?: Transferable[],
  ): Promise<LookAnswers[Kind]>;
  /** Ends the worker, whatever it is at. */
  end(): void;
}

export function startLooker(): Looker {
  const worker = startWorker('look');
  const open = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  const fail = (message: string): void => {
    for (const { reject } of open.values()) reject(new Error(message));
    open.clear();
  };
  worker.onmessage = ({ data }: MessageEvent<Answered>) => {
    const asked = open.get(data.id);
    open.delete(data.id);
    if ('fault' in data) asked?.reject(new Error(data.fault));
    else asked?.resolve(data.answer);
  };
  // Such as when the browser can't give it any more memory.
  worker.onerror = () => fail('The browser has ended what looked at it. There may be too little memory.');
  return {
    ask: (question, transfer = []) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        open.set(lastId, { resolve: resolve as (answer: unknown) => void, reject });
        worker.postMessage({ id: lastId, question } satisfies Asked<LookQuestion>, transfer);
      }),
    end() {
      worker.terminate();
      open.clear();
    },
  };
}
