import type { Around } from '../../queries.ts';
import type { ActiveSpan, SpanOptions, Tracer } from './tracer.ts';
import { errorTypeOf } from './tracer.ts';

/** Runs an attempt of a transaction within its span. */
type Within = <T>(work: () => Promise<T>) => Promise<T>;

export type StoreSpans = ReturnType<typeof createStoreSpans>;

/**
 * Spans for each query of a request that is traced, for each of its transactions, and for each attempt of one. Parameters are in none
 * of them.
 *
 * @param system as https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/#db-system-name has it
 */
export function createStoreSpans(tracer: Tracer, system: 'sqlite' | 'postgresql') {
  const around = (prefix: string): Around => {
    return (name, run) => {
      const attributes = { 'db.system.name': system, 'db.operation.name': name };
      return tracer.within(`${prefix}.${name}`, { kind: 'client', attributes }, run);
    };
  };
  const options: SpanOptions = { kind: 'internal', attributes: { 'db.system.name': system } };
  return {
    query: around('store.read'),
    mutation: around('store.transaction'),
    transaction<T>(run: (within: Within) => Promise<T>): Promise<T> {
      const runTraced = (span: ActiveSpan | undefined): Promise<T> => {
        if (span === undefined) return run((work) => work());
        const attempts = createAttempts(span, tracer, options);
        return attempts.settle(run(attempts.run));
      };
      return tracer.within('store.write', options, runTraced);
    },
  };
}

/** Makes a span of each run of a transaction. That a run came to nothing shows only when another one follows. */
function createAttempts(transaction: ActiveSpan, tracer: Tracer, options: SpanOptions) {
  let count = 0;
  let last: { readonly span: ActiveSpan; workedUntilMs: number } | undefined;

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      transaction.set('tenon.store.attempts', ++count);
      last?.span.fail('overtaken');
      last?.span.end(last.workedUntilMs);
      last = undefined;
      const span = tracer.begin('store.attempt', options);
      if (span === undefined) return work();
      span.set('tenon.store.attempt', count);
      const own = { span, workedUntilMs: 0 };
      last = own;
      try {
        return await tracer.run(span, work);
      } finally {
        own.workedUntilMs = performance.now();
      }
    },
    /** Ends the last of them with the transaction, whose commit belongs to it. */
    async settle<T>(committed: Promise<T>): Promise<T> {
      try {
        return await committed;
      } catch (error) {
        last?.span.fail(errorTypeOf(error));
        throw error;
      } finally {
        last?.span.end();
      }
    },
  };
}
