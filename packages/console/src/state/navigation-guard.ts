/** Blocks leaving a page with unsaved changes. */
export interface NavigationGuard {
  /**
   * Blocks leaving until the returned function is called.
   *
   * @param ask called with the blocked navigation: a link, the history or an action
   */
  block(ask: (to: BlockedNavigation) => void): () => void;
  /** Runs an action that leaves the page, such as signing out, unless navigation is blocked. */
  run(act: () => void): void;
}

export type BlockedNavigation =
  | { readonly kind: 'link'; readonly path: string }
  | { readonly kind: 'history' }
  | { readonly kind: 'action'; readonly act: () => void };

/** Call before the router starts, because its listeners must run after these. */
export function createNavigationGuard(): NavigationGuard {
  let held: { readonly ask: (to: BlockedNavigation) => void; readonly here: string } | undefined;
  addEventListener('popstate', (event) => {
    if (held === undefined) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', held.here);
    held.ask({ kind: 'history' });
  });
  addEventListener('click', (event) => {
    if (held === undefined || !isPlain(event)) return;
    const link = event.composedPath().find((target) => target instanceof HTMLAnchorElement);
    if (link === undefined || !leadsAway(link)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held.ask({ kind: 'link', path: link.pathname + link.search });
  });
  // The browser shows its own dialog before closing or reloading.
  addEventListener('beforeunload', (event) => {
    if (held !== undefined) event.preventDefault();
  });
  return {
    block(ask) {
      const mine = { ask, here: location.href };
      held = mine;
      return () => {
        if (held === mine) held = undefined;
      };
    },
    run(act) {
      if (held === undefined) act();
      else held.ask({ kind: 'action', act });
    },
  };
}

function isPlain({ button, ctrlKey, metaKey, shiftKey, altKey, defaultPrevented }: MouseEvent): boolean {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey && !defaultPrevented;
}

/** Whether a link opens another page of the console in this tab; the browser itself asks before the console is left. */
function leadsAway(link: HTMLAnchorElement): boolean {
  const isHere = link.pathname + link.search === location.pathname + location.search;
  return !isHere && link.origin === location.origin && /^(_self)?$/.test(link.target) && !link.hasAttribute('download');
}
