import type { StreamName } from '@tenon/run-kit';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { startWorker } from '../workers.ts';
import type { RunMessage, RunRequest, RunResult } from './messages.ts';

/** Time for a run to stop at a traced call, which leaves a trace. */
const stopMs = 700;

export type Phase = Extract<RunMessage, { kind: 'phase' }>['phase'];

export interface RunState {
  readonly name: 'none' | 'running' | 'done' | 'stopped' | 'fault';
  readonly phase: Phase;
  /** The output so far, and whether the rest was dropped. */
  readonly text: Readonly<Record<StreamName, string>>;
  readonly isCut: Readonly<Record<StreamName, boolean>>;
  readonly result: RunResult | undefined;
  /** Why the module can't be run. */
  readonly fault: string;
}

const idle: RunState = {
  name: 'none',
  phase: 'instrumenting',
  text: { stdout: '', stderr: '' },
  isCut: { stdout: false, stderr: false },
  result: undefined,
  fault: '',
};

/** A request without the flag that stops the run. */
export type RunOrder = Omit<RunRequest, 'stopFlag'>;

interface Run {
  readonly worker: Worker;
  readonly stopFlag: SharedArrayBuffer | undefined;
  phase: Phase;
  isStopping: boolean;
}

/** Runs one module at a time, in a worker that ends with the run or the page. */
export function useRun(): { readonly state: RunState; start(order: RunOrder): void; stop(): void } {
  const [state, setState] = useState(idle);
  const current = useRef<Run>(undefined);
  const end = (): void => {
    current.current?.worker.terminate();
    current.current = undefined;
  };
  useEffect(() => end, []);

  const start = useCallback((order: RunOrder) => {
    end();
    const worker = startWorker('run');
    const stopFlag = crossOriginIsolated ? new SharedArrayBuffer(4) : undefined;
    const run: Run = { worker, stopFlag, phase: 'instrumenting', isStopping: false };
    current.current = run;
    setState({ ...idle, name: 'running' });
    const finish = (last: Partial<RunState>): void => {
      if (current.current !== run) return;
      end();
      setState((before) => ({ ...before, ...last }));
    };
    worker.onmessage = ({ data }: MessageEvent<RunMessage>) => {
      if (current.current !== run) return;
      if (data.kind === 'done') finish({ name: 'done', result: data.result });
      else if (data.kind === 'fault') finish({ name: 'fault', fault: data.message });
      else {
        if (data.kind === 'phase') run.phase = data.phase;
        setState((before) => withMessage(before, data));
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      finish({ name: 'fault', fault: 'The browser ended it; it may have used too much memory' });
    };
    worker.postMessage({ ...order, stopFlag } satisfies RunRequest);
  }, []);

  const stop = useCallback(() => {
    const run = current.current;
    if (run === undefined) return;
    const terminate = (): void => {
      end();
      setState((before) => ({ ...before, name: 'stopped' }));
    };
    // A second press ends the run at once, as does a press before it runs, or if there is no flag.
    if (run.stopFlag === undefined || run.isStopping || run.phase !== 'running') return terminate();
    run.isStopping = true;
    const flag = new Int32Array(run.stopFlag);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0); // it may sleep
    const check = (): void => {
      if (current.current !== run) return;
      if (run.phase === 'gathering') setTimeout(check, stopMs);
      else terminate();
    };
    setTimeout(check, stopMs);
  }, []);
  return { state, start, stop };
}

function withMessage(state: RunState, message: Exclude<RunMessage, { kind: 'done' | 'fault' }>): RunState {
  if (message.kind === 'phase') return { ...state, phase: message.phase };
  const { stream } = message;
  if (message.kind === 'cut') return { ...state, isCut: { ...state.isCut, [stream]: true } };
  return { ...state, text: { ...state.text, [stream]: state.text[stream] + message.text } };
}
