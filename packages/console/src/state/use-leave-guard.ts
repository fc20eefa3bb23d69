import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/** Whether somebody is about to leave a page with something unsaved on it. */
export interface LeaveGuard {
  readonly isAsking: boolean;
  leave(): void;
  stay(): void;
}

/**
 * Holds up what would lose unsaved changes: links of the console and the browser's buttons with `isAsking`, closing and reloading
 * with the browser's own question.
 */
export function useLeaveGuard(isUnsaved: boolean): LeaveGuard {
  const { route } = useLocation();
  const [onward, setOnward] = useState<{ readonly go: () => void }>();
  const holds = useRef(isUnsaved);
  const isLeaving = useRef(false);
  holds.current = isUnsaved && !isLeaving.current;

  useEffect(() => {
    const here = location.href;
    const askBrowser = (event: BeforeUnloadEvent): void => {
      if (holds.current) event.preventDefault();
    };
    const holdLink = (event: MouseEvent): void => {
      if (!holds.current || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
        return;
      const link = event.composedPath().find((target) => target instanceof HTMLAnchorElement);
      if (link === undefined || !leadsAway(link)) return;
      event.preventDefault();
      event.stopImmediatePropagation(); // the router listens at the same place
      setOnward({ go: () => route(link.pathname + link.search) });
    };
    const holdHistory = (event: PopStateEvent): void => {
      if (!holds.current) return;
      event.stopImmediatePropagation();
      history.pushState(null, '', here);
      setOnward({ go: () => history.back() });
    };
    addEventListener('beforeunload', askBrowser);
    addEventListener('click', holdLink, true);
    addEventListener('popstate', holdHistory, true);
    return () => {
      removeEventListener('beforeunload', askBrowser);
      removeEventListener('click', holdLink, true);
      removeEventListener('popstate', holdHistory, true);
    };
  }, []);

  return {
    isAsking: onward !== undefined,
    leave() {
      isLeaving.current = true;
      holds.current = false;
      setOnward(undefined);
      onward?.go();
    },
    stay: () => setOnward(undefined),
  };
}

/** Whether a link opens another page of the console in this tab; the browser itself asks before the console is left. */
function leadsAway(link: HTMLAnchorElement): boolean {
  const isHere = link.pathname + link.search === location.pathname + location.search;
  return !isHere && link.origin === location.origin && /^(_self)?$/.test(link.target) && !link.hasAttribute('download');
}
