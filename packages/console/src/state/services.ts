import type { Account } from '@tenon/protocol';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApiClient } from '../api/client.ts';
import type { NavigationGuard } from './navigation-guard.ts';
import type { PageCache } from './page-cache.ts';
import type { Session, SessionView } from './session.ts';
import { useStore } from './store.ts';
import type { Toasts } from './toasts.ts';

/** What every page may use. */
export interface Services {
  readonly session: Session;
  readonly toasts: Toasts;
  /** What pages keep for when one comes back to them. */
  readonly pageCache: PageCache;
  readonly navigationGuard: NavigationGuard;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === undefined) throw new Error('Drawn outside of <ServicesContext.Provider>');
  return services;
}

/** The public API, as whoever is signed in. */
export function useApi(): ApiClient {
  return useServices().session.api;
}

export function useSession(): { readonly session: Session; readonly view: SessionView } {
  const { session } = useServices();
  return { session, view: useStore(session.view) };
}

/** Who is signed in; for pages that only they see. */
export function useAccount(): Account {
  const { view } = useSession();
  if (view.status !== 'ready' || view.account === null) throw new Error('Nobody is signed in');
  return view.account;
}

/** Shows a short word at the edge of the screen, which screen readers say. */
export function useToast(): Toasts['show'] {
  return useServices().toasts.show;
}
