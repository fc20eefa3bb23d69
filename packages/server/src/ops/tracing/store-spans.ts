import type { Around } from '../../queries.ts';
import type { ActiveSpan, SpanOptions, Tracer } from './tracer.ts';
import { errorTypeOf } from './tracer.ts';

/** Runs an attempt of a transaction in a span. */
type RunAttempt = <T>(work: () => Promise<T>) => Promise<T>;

export type StoreSpans = ReturnType<typeof createStoreSpans>;

/**
 * Creates spans for queries, transactions, and attempts of transactions. They don't contain parameters.
 *
 * @param system see https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/#db-system-name
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
    transaction<T>(run: (runAttempt: RunAttempt) => Promise<T>): Promise<T> {
      const runTraced = (span: ActiveSpan | undefined): Promise<T> => {
        if (span === undefined) return run((work) => work());
        const attempts = createAttempts(span, tracer, options);
        return attempts.settle(run(attempts.run));
      };
      return tracer.within('store.write', options, runTraced);
    },
  };
}

/** Creates a span for each attempt of a transaction. Only the start of the next attempt shows that one has failed. */
function createAttempts(transaction: ActiveSpan, tracer: Tracer, options: SpanOptions) {
  let count = 0;
  let last: { readonly span: ActiveSpan; endMs: number } | undefined;

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      transaction.set('tenon.store.attempts', ++count);
      last?.span.fail('conflict');
      last?.span.end(last.endMs);
      last = undefined;
      const span = tracer.begin('store.attempt', options);
      if (span === undefined) return work();
      span.set('tenon.store.attempt', count);
      const attempt = { span, endMs: 0 };
      last = attempt;
      try {
        return await tracer.run(span, work);
      } finally {
        attempt.endMs = performance.now();
      }
    },
    /** Ends the last attempt with the transaction, because it includes the commit. */
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
