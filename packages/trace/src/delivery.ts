import { TraceError } from './errors.ts';
import type { Span, SpanExporter } from './span.ts';

/** Hands finished roots to the exporters, and keeps what goes wrong there away from the module. */
export interface Delivery {
  readonly deliver: (spans: readonly Span[]) => void;
  readonly flush: () => Promise<void>;
  readonly shutdown: () => Promise<void>;
  readonly isNeeded: () => boolean;
  /** Batches that an exporter failed to take. */
  readonly failedExports: () => number;
}

export function createDelivery(exporters: readonly SpanExporter[], report: (error: TraceError) => void): Delivery {
  const places = exporters.map((exporter) => ({ exporter, underWay: new Set<Promise<void>>() }));
  let failed = 0;
  let ended: Promise<void> | undefined;
  const fail = (action: string, cause: unknown) => {
    report(new TraceError('export_failed', `An exporter failed to ${action}: ${messageOf(cause)}`, { cause }));
  };
  const failExport = (cause: unknown) => {
    failed++;
    fail('take spans', cause);
  };
  // Each by itself: one that never answers must not keep the others from sending on what they hold.
  const all = async (action: 'flush' | 'shutdown') => {
    await Promise.all(
      places.map(async ({ exporter, underWay }) => {
        await Promise.all(underWay);
        try {
          await (action === 'shutdown' && exporter.shutdown ? exporter.shutdown() : exporter.flush?.());
        } catch (cause) {
          fail(action === 'flush' ? 'flush' : 'shut down', cause);
        }
      }),
    );
  };
  return {
    deliver(spans) {
      for (const { exporter, underWay } of places) {
        try {
          const result = exporter.export(spans);
          if (result === undefined) continue;
          const settled = Promise.resolve(result)
            .catch(failExport)
            .finally(() => underWay.delete(settled));
          underWay.add(settled);
        } catch (cause) {
          failExport(cause);
        }
      }
    },
    flush: () => ended ?? all('flush'),
    shutdown() {
      ended ??= all('shutdown');
      return ended;
    },
    isNeeded: () => exporters.length > 0 && ended === undefined,
    failedExports: () => failed,
  };
}

/** A thrown value as text, even if its conversion throws. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'something that has no text';
  }
}
