import type { Identity, ListPage, SignInProviderInfo } from '@tenon/protocol';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { confirmWithProvider } from '../state/provider-sign-in.ts';
import { useServices } from '../state/services.ts';
import { useData } from '../state/use-data.ts';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { ErrorView } from './error-view.tsx';
import { Notice } from './notice.tsx';

/** Buttons that confirm the session with the providers that are linked to the account. */
export function ConfirmWithProvider({ onConfirmed }: { readonly onConfirmed: () => void }) {
  const { session } = useServices();
  const linked = useData(() => session.api.get<ListPage<Identity>>('/api/v1/me/identities'), []);
  if (linked.status !== 'ready') return null;
  const providers = linked.data.objects.flatMap(({ provider }) => provider ?? []);
  const unique = new Map(providers.map((provider) => [provider.id, provider]));
  return (
    <div class="stack">
      {[...unique.values()].map((provider) => (
        <ConfirmButton key={provider.id} provider={provider} onConfirmed={onConfirmed} />
      ))}
    </div>
  );
}

function ConfirmButton(props: { readonly provider: SignInProviderInfo; readonly onConfirmed: () => void }) {
  const { session } = useServices();
  const { provider, onConfirmed } = props;
  const closing = useMemo(() => new AbortController(), []);
  const [failure, setFailure] = useState<string>();
  useEffect(() => () => closing.abort(), []);
  const { submit, isBusy, error } = useSubmit(async () => {
    setFailure(undefined);
    const explanation = await confirmWithProvider(session, provider, closing.signal);
    if (explanation === undefined) onConfirmed();
    else setFailure(explanation);
  });
  return (
    <>
      <Button kind="quiet" isBusy={isBusy} onClick={submit}>
        Confirm with {provider.label}
      </Button>
      {isBusy ? <p class="soft small">Continue in the window that opened.</p> : null}
      {failure === undefined ? null : <Notice kind="failed">{failure}</Notice>}
      <ErrorView error={error} />
    </>
  );
}
