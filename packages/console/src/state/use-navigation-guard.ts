import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { BlockedNavigation } from './navigation-guard.ts';
import { useServices } from './services.ts';

/** Whether somebody is about to leave the page, and has to be asked. */
export interface NavigationPrompt {
  readonly isAsking: boolean;
  leave(): void;
  stay(): void;
}

/** Holds up what would lose unsaved changes, or end what is under way. */
export function useNavigationGuard(isUnsaved: boolean): NavigationPrompt {
  const { navigationGuard } = useServices();
  const { route } = useLocation();
  const [exit, setExit] = useState<BlockedNavigation>();
  const release = useRef(() => {});
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    release.current = navigationGuard.block(setExit);
    return () => release.current();
  }, [isUnsaved]);
  return {
    isAsking: exit !== undefined,
    leave() {
      release.current();
      setExit(undefined);
      if (exit?.kind === 'link') route(exit.path);
      else if (exit?.kind === 'action') exit.act();
      else history.back();
    },
    stay: () => setExit(undefined),
  };
}
