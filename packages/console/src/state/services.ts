import type { Account } from '@tenon/protocol';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApiClient } from '../api/client.ts';
import type { LiveUpdates } from './live-updates.ts';
import type { NavigationGuard } from './navigation-guard.ts';
import type { PageCache } from './page-cache.ts';
import type { Session, SessionView } from './session.ts';
import { useStore } from './store.ts';
import type { Toasts } from './toasts.ts';

/** The services of all pages. */
export interface Services {
  readonly session: Session;
  readonly toasts: Toasts;
  /** Data and inputs to show again when the user returns to a page. */
  readonly pageCache: PageCache;
  readonly navigationGuard: NavigationGuard;
  readonly liveUpdates: LiveUpdates;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === undefined) throw new Error('Drawn outside of <ServicesContext.Provider>');
  return services;
}

/** The public API, as the signed-in user. */
export function useApi(): ApiClient {
  return useServices().session.api;
}

export function useSession(): { readonly session: Session; readonly view: SessionView } {
  const { session } = useServices();
  return { session, view: useStore(session.view) };
}

/** Whether the server can send mail. */
export function useSendsMail(): boolean {
  const { view } = useSession();
  return view.status === 'ready' && view.sendsMail;
}

/** The signed-in account, on pages that require one. */
export function useAccount(): Account {
  const { view } = useSession();
  if (view.status !== 'ready' || view.account === null) throw new Error('No user is signed in');
  return view.account;
}

/** Returns a function that shows a toast. */
export function useToast(): Toasts['show'] {
  return useServices().toasts.show;
}
