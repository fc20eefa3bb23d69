import type { FlameGraphData } from '@tenon/trace/flame-graph';
import { mountFlameGraph } from '@tenon/trace/flame-graph-viewer';
import { useEffect, useRef } from 'preact/hooks';

/** The flame graph of a run, in the page's colours. */
export function FlameGraph({ data }: { readonly data: FlameGraphData }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    const graph = mountFlameGraph(place.current, data);
    // The colour scheme chosen in the page's footer is an attribute of the document.
    const observer = new MutationObserver(graph.repaint);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      observer.disconnect();
      graph.destroy();
    };
  }, [data]);
  return <div ref={place} class="flame-graph" />;
}
