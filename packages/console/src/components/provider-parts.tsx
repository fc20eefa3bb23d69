import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useSession } from '../state/services.ts';

type Parts = typeof import('./provider-buttons.tsx');

/** Renders buttons of the sign-in providers. Only the pages of a server with providers load their code. */
export function ProviderParts({ children }: { readonly children: (parts: Parts) => ComponentChildren }) {
  const { view } = useSession();
  const [parts, setParts] = useState<Parts>();
  const isNeeded = view.status === 'ready' && view.providers.length > 0;
  useEffect(() => {
    if (isNeeded) void import('./provider-buttons.tsx').then(setParts);
  }, [isNeeded]);
  return <>{parts === undefined ? null : children(parts)}</>;
}
