import { isCount, isFunction, oneOf } from '../check-options.ts';
import { TraceError } from '../errors.ts';
import type { FunctionStatistics, TraceStatistics } from '../span.ts';
import { metricsRequest, type Temporality } from './metrics-request.ts';
import { checkOtlpOptions, hostEnvironment, isTimerDelay, type OtlpEnvironment, type OtlpOptions } from './options.ts';
import { metricsRequestSchema } from './schema.ts';
import { statisticsSince, sumOf } from './statistics-difference.ts';
import { createTransport, exportFailed, tell } from './transport.ts';

/** Options of {@link otlpMetrics}. */
export interface OtlpMetricsOptions extends OtlpOptions {
  /** Gives what was counted so far: `() => context.statistics()`, of a context started with `statistics: true`. */
  readonly source: () => TraceStatistics;
  /** Gives the pages of 64 KiB that the memories have now. Default: those that the statistics tell of. */
  readonly livePages?: (() => number) | undefined;
  /** Milliseconds between reports. Default: 60,000. */
  readonly intervalMs?: number | undefined;
  /** Default: `cumulative`, which Prometheus wants; some services want `delta`. */
  readonly temporality?: Temporality | undefined;
  /**
   * Functions that are reported by name; the first to be called are. The rest are reported together, with `otel.metric.overflow`.
   * Default: 2,000.
   */
  readonly maxFunctions?: number | undefined;
}

/** Reports statistics to a collector until it is shut down. */
export interface OtlpMetrics {
  /** Reports now. Rejects with an `export_failed` where that failed. */
  flush(): Promise<void>;
  /** Reports a last time, and no more. A second call waits for the first. */
  shutdown(): Promise<void>;
}

/**
 * Reports calls, failures, times and growth of memory by function, as metrics by OTLP over HTTP. The names are in the reference,
 * docs/reference/trace-exporters.md.
 *
 * @throws TraceError with code `invalid_option`
 */
export function otlpMetrics(options: OtlpMetricsOptions): OtlpMetrics {
  checkOtlpOptions(options, {
    source: isFunction,
    livePages: isFunction,
    intervalMs: isTimerDelay,
    temporality: oneOf('cumulative', 'delta'),
    maxFunctions: isCount,
  });
  return createOtlpMetrics(options, hostEnvironment(options));
}

/** {@link otlpMetrics} in a world that is handed in. */
export function createOtlpMetrics(options: OtlpMetricsOptions, environment: OtlpEnvironment): OtlpMetrics {
  const { intervalMs = 60_000, temporality = 'cumulative', maxFunctions = 2_000, shutdownTimeoutMs = 30_000 } = options;
  const transport = createTransport('/v1/metrics', metricsRequestSchema, options, environment);
  const named = new Set<number>();
  let reported: { readonly statistics: TraceStatistics; readonly timeUnixNano: bigint } | undefined;
  let last: Promise<void> = Promise.resolve();
  let cancelNext = scheduleNext();
  let closed: Promise<void> | undefined;

  function scheduleNext(): () => void {
    return environment.schedule(
      () => {
        flush()
          .catch(() => {}) // was told
          .finally(() => {
            if (closed === undefined) cancelNext = scheduleNext();
          });
      },
      intervalMs,
      false,
    );
  }

  /** One after the other: what a report says depends on whether the one before was taken. */
  function flush(): Promise<void> {
    last = last.catch(() => {}).then(report);
    return last;
  }

  async function report(): Promise<void> {
    try {
      const statistics = options.source();
      const timeUnixNano = BigInt(Math.floor(environment.now())) * 1_000_000n;
      const isDelta = temporality === 'delta' && reported !== undefined;
      const counted =
        isDelta && reported ? statisticsSince(statistics, reported.statistics, reported.timeUnixNano) : statistics;
      const { functions, isOverflow } = limited(counted.functions);
      const snapshot = {
        statistics: { ...counted, functions },
        timeUnixNano,
        temporality,
        livePages: options.livePages === undefined ? statistics.livePages : options.livePages(),
        resource: options.resource,
      };
      const { rejected, message } = await transport.send(metricsRequest(snapshot, isOverflow));
      reported = { statistics, timeUnixNano };
      if (rejected > 0)
        throw new TraceError('export_failed', `The collector refused ${rejected} data points: ${message}`);
    } catch (cause) {
      const error = cause instanceof TraceError ? cause : exportFailed('metrics', cause);
      tell(options, error);
      throw error;
    }
  }

  /** The functions that have points of their own, and one that stands for the rest. */
  function limited(functions: readonly FunctionStatistics[]) {
    for (const each of functions) if (named.size < maxFunctions) named.add(each.function.index);
    const rest = functions.filter((each) => !named.has(each.function.index));
    const [first, ...others] = rest;
    const overflow = first && sumOf([first, ...others]);
    const own = functions.filter((each) => named.has(each.function.index));
    return {
      functions: overflow === undefined ? own : [...own, overflow],
      isOverflow: (each: FunctionStatistics) => each === overflow,
    };
  }

  async function close(): Promise<void> {
    cancelNext();
    const cancel = environment.schedule(() => transport.abort(), shutdownTimeoutMs, false);
    try {
      await flush();
    } finally {
      cancel();
    }
  }

  return {
    flush: () => closed ?? flush(),
    shutdown() {
      closed ??= close();
      return closed;
    },
  };
}
