import type { SpanContext } from '@tenon/trace';
import type { TracingValues } from './options.ts';

/** Decides which requests are traced. */
export interface Sampler {
  /** Whether a request is traced whose caller told of no span. The trace's id is made afterwards, so chance decides. */
  samplesRoot(): boolean;
  /** Whether one is that lies within a span of its caller's. */
  samplesWithin(parent: SpanContext): boolean;
}

/** The span that encloses is sampled: https://www.w3.org/TR/trace-context/#sampled-flag */
const sampledFlag = 1;

/**
 * What `OTEL_TRACES_SAMPLER` says. Callers choose a trace's id and its flag, so that both decide only where callers are trusted: a
 * stranger would otherwise have all that he asks for traced, and pay for none of it.
 */
export function createSampler(
  { otelSampler, otelSamplerArg, trustTraceparent }: TracingValues,
  random: () => number,
): Sampler {
  const [followsParent, name] = otelSampler.startsWith('parentbased_')
    ? [true, otelSampler.slice('parentbased_'.length)]
    : [false, otelSampler];
  const share = name === 'always_on' ? 1 : name === 'always_off' ? 0 : otelSamplerArg;
  const samplesRoot = (): boolean => share === 1 || (share > 0 && random() < share);
  return {
    samplesRoot,
    samplesWithin({ traceId, traceFlags }) {
      if (!trustTraceparent) return samplesRoot();
      return followsParent ? (traceFlags & sampledFlag) !== 0 : isWithinShare(traceId, share);
    },
  };
}

/**
 * Whether all who trace this share of traces, or more, trace this one:
 * https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/#consistent-probability-sampling
 */
function isWithinShare(traceId: string, share: number): boolean {
  // The last 56 bits of the id are random; the 52 highest of those are enough, and a double holds them.
  const randomness = Number.parseInt(traceId.slice(-14, -1), 16);
  return randomness >= (1 - share) * 2 ** 52;
}
