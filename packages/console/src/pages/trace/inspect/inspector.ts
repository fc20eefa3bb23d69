import { startWorker } from '../workers.ts';
import type { Answered, Asked, InspectAnswers, InspectQuestion } from './messages.ts';

/** The page's side of the inspect worker. */
export interface Inspector {
  /** @throws Error with a message for people. Never settles once the worker has ended. */
  ask<Kind extends InspectQuestion['kind']>(
    question: Extract<InspectQuestion, { kind: Kind }>,
    transfer?: Transferable[],
  ): Promise<InspectAnswers[Kind]>;
  /** Terminates the worker. */
  end(): void;
}

export function startInspector(): Inspector {
  const worker = startWorker('inspect');
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
  // For example, out of memory.
  worker.onerror = () => fail('The browser ended the worker. There may be too little memory.');
  return {
    ask: (question, transfer = []) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        open.set(lastId, { resolve: resolve as (answer: unknown) => void, reject });
        worker.postMessage({ id: lastId, question } satisfies Asked<InspectQuestion>, transfer);
      }),
    end() {
      worker.terminate();
      open.clear();
    },
  };
}
