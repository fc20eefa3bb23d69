import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { BlockedNavigation } from './navigation-guard.ts';
import { useServices } from './services.ts';

/** A blocked navigation that the user must confirm. */
export interface NavigationPrompt {
  readonly isAsking: boolean;
  leave(): void;
  stay(): void;
}

/** Blocks navigation that would lose unsaved changes or stop an upload. */
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
