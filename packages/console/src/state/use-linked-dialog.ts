import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/** Whether a page's dialog is open. Links open it with a query parameter, which closing removes. */
export function useLinkedDialog(parameter: string, value: string) {
  const { query, path, route } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const isLinked = query[parameter] === value;
  return {
    isOpen: isOpen || isLinked,
    open: () => setOpen(true),
    close(): void {
      setOpen(false);
      if (isLinked) route(path, true);
    },
  };
}
