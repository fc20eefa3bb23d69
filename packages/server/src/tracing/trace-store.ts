import type { Store, Transaction } from '../domain/ports.ts';
import { errorTypeOf } from './error-type.ts';
import type { ActiveSpan, SpanOptions, Tracer } from './tracer.ts';

/**
 * The store, with a span for each question of a request that is traced, for each of its transactions, and for each time that one was
 * run: another may have been faster. What is asked for is in none of them.
 *
 * @param system as https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/#db-system-name has it
 */
export function traceStore(store: Store, tracer: Tracer, system: 'sqlite' | 'postgresql'): Store {
  const tracedMethods = <T extends object>(methods: T, prefix: string): T => {
    const traced = Object.entries(methods).map(([name, method]) => {
      const attributes = { 'db.system.name': system, 'db.operation.name': name };
      const options: SpanOptions = { kind: 'client', attributes };
      const call = (...args: unknown[]): Promise<unknown> =>
        tracer.within(`${prefix}.${name}`, options, () => Reflect.apply(method, methods, args), errorTypeOf);
      return [name, call];
    });
    return Object.fromEntries(traced) as T;
  };
  const options: SpanOptions = { kind: 'internal', attributes: { 'db.system.name': system } };
  return {
    ...store,
    read: tracedMethods(store.read, 'store.read'),
    write<T>(work: (tx: Transaction) => Promise<T>) {
      const run = (span: ActiveSpan | undefined): Promise<T> => {
        if (span === undefined) return store.write(work);
        const attempts = createAttempts(span, tracer, options);
        return attempts.settle(store.write((tx) => attempts.run(() => work(tracedMethods(tx, 'store.transaction')))));
      };
      return tracer.within('store.write', options, run, errorTypeOf);
    },
  };
}

interface Attempts {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Ends the last of them with the transaction, whose commit belongs to it. */
  settle<T>(transaction: Promise<T>): Promise<T>;
}

/** Makes a span of each run of a transaction. That a run came to nothing shows only when another one follows. */
function createAttempts(transaction: ActiveSpan, tracer: Tracer, options: SpanOptions): Attempts {
  let count = 0;
  let last: { readonly span: ActiveSpan; workedUntilMs: number } | undefined;

  return {
    async run(work) {
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
    async settle(committed) {
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
