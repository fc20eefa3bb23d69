import type { ProviderSignInInput } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useSession } from '../state/services.ts';

/** Buttons that sign in with providers. Only the pages of a server with providers load their code. */
export function Providers(use: { readonly codes: ProviderSignInInput }) {
  const { view } = useSession();
  const [parts, setParts] = useState<typeof import('./provider-buttons.tsx')>();
  useEffect(() => {
    if (view.status === 'ready' && view.providers[0]) void import('./provider-buttons.tsx').then(setParts);
  }, [view]);
  return parts === undefined ? null : <parts.ProviderButtons {...use} />;
}
