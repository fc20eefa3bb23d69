import type { FlameGraphData } from '@tenon/trace/flame-graph';
import { useEffect, useRef } from 'preact/hooks';
import { useToast } from '../../../state/services.ts';

/** The flame graph of a run, in the page's colours. Its code is loaded with the first run. */
export function FlameGraph({ data }: { readonly data: FlameGraphData }) {
  const place = useRef<HTMLDivElement>(null);
  const toast = useToast();
  useEffect(() => {
    const leaving = new AbortController();
    import('@tenon/trace/flame-graph-viewer').then(
      ({ mountFlameGraph }) => {
        if (place.current === null || leaving.signal.aborted) return;
        const graph = mountFlameGraph(place.current, data);
        // The colour scheme chosen in the page's footer is an attribute of the document.
        const observer = new MutationObserver(graph.repaint);
        observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
        leaving.signal.addEventListener('abort', () => {
          observer.disconnect();
          graph.destroy();
        });
      },
      () => toast('The flame graph could not be loaded.', 'failed'),
    );
    return () => leaving.abort();
  }, [data]);
  return <div ref={place} class="flame-graph" />;
}
