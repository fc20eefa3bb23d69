import { instrument } from '@tenon/instrument';
import { findDebugInfo } from '@tenon/instrument/debug-info';
import { createRunner, createStopper, createWasi, type StreamName, sleep } from '@tenon/run-kit';
import { createRunSources } from '@tenon/run-kit/sources';
import type { FunctionStatistics } from '@tenon/trace';
import { flameGraphData } from '@tenon/trace/flame-graph';
import { createBoundedDemangler } from '../demangle.ts';
import { clockStepMicroseconds } from './clock-step.ts';
import type { RunMessage, RunRequest, RunResult } from './messages.ts';

/** The worker around a run. */
export interface RunHost {
  readonly send: (message: RunMessage) => void;
  readonly output: {
    readonly write: (stream: StreamName, bytes: Uint8Array) => void;
    readonly flush: () => void;
  };
}

/** A page whose module takes more memory may crash the browser. */
const maxMemoryBytes = 1024 ** 3;

const maxSpans = 100_000;

/** Functions in the table. */
const maxRows = 500;

/**
 * Instruments a module if necessary, and runs it.
 *
 * @throws Error with a message for people if it can't be run
 */
export function runModule(request: RunRequest, { send, output }: RunHost): RunResult {
  const { program, pluginConfig, missing, minDurationMicroseconds, stopFlag } = request;
  const encoder = new TextEncoder();
  const input = encoder.encode(request.input);
  const flags = stopFlag && new Int32Array(stopFlag);
  // A module may catch the first throw and continue, which the page has to know to end the worker.
  const stopper =
    flags &&
    createStopper(flags, (throws) => {
      if (throws <= 2) send({ kind: 'phase', phase: throws === 1 ? 'gathering' : 'running' });
    });
  send({ kind: 'phase', phase: 'instrumenting' });
  const original = new Uint8Array(request.bytes);
  const hasSources = hasDebugInfo(original);
  const instrumentOptions = { ...request.options, codeMap: hasSources };
  const module = request.isInstrumented ? original : Uint8Array.from(instrument(original, instrumentOptions).bytes);
  // The debug information describes the original code.
  const debugFiles = request.isInstrumented ? {} : { debugFile: original };
  send({ kind: 'phase', phase: 'compiling' });
  const options = { module, program, input, pluginConfig, missing, minDurationMicroseconds };
  const run = createRunner(
    { ...options, maxSpans, maxMemoryBytes, repeat: 1 },
    {
      createWasi: (version) =>
        createWasi(version, {
          args: [request.fileName, ...request.programArgs],
          environment: request.environment,
          read: readerOf(input),
          write(stream, bytes) {
            output.write(stream, bytes);
            return 0;
          },
          isTerminal: () => true,
          sleep(ms) {
            output.flush();
            sleep(ms, flags);
            stopper?.();
          },
        }),
      log: (level, text) => output.write('stderr', encoder.encode(`[${level}] ${text}\n`)),
      stopper,
      demangle: createBoundedDemangler(request.demangler, () => performance.now()),
      sources: hasSources ? createRunSources(module, debugFiles) : undefined,
    },
  );
  send({ kind: 'phase', phase: 'running' });
  const startMs = performance.now();
  const { statistics, spans, initialPages, values, ...result } = run();
  const durationMs = performance.now() - startMs;
  send({ kind: 'phase', phase: 'gathering' });
  const functions = statistics.functions.filter(({ calls }) => calls > 0);
  return {
    ending: result.ending,
    values: values.map((value, at) => `${value} (${request.resultTypes[at]})`).join(', '),
    output: result.output,
    flame: flameGraphData(spans, { title: program.exportName, initialPages }),
    spans: spans.length,
    functions: functions
      .sort((a, b) => Number(b.selfTimeNano - a.selfTimeNano))
      .slice(0, maxRows)
      .map(withShortName),
    moreFunctions: Math.max(0, functions.length - maxRows),
    dropped: statistics.dropped,
    durationMs,
    clockStepMicroseconds: clockStepMicroseconds(() => performance.now()),
  };
}

/** Whether the module contains its debug information. A page has no other files. */
function hasDebugInfo(bytes: Uint8Array): boolean {
  const { dwarfBytes, sourceMapUrl } = findDebugInfo(bytes);
  return dwarfBytes > 0 || sourceMapUrl?.startsWith('data:') === true;
}

function readerOf(input: Uint8Array): (into: Uint8Array) => number {
  let from = 0;
  return (into) => {
    const bytes = input.subarray(from, from + into.length);
    into.set(bytes);
    from += bytes.length;
    return bytes.length;
  };
}

/** Names come from modules and may be very long. */
const maxNameLength = 2_000;

function withShortName(entry: FunctionStatistics): FunctionStatistics {
  return { ...entry, function: { ...entry.function, name: entry.function.name.slice(0, maxNameLength) } };
}
