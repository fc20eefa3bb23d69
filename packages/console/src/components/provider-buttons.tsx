import type { ProviderSignInInput, SignInProviderInfo } from '@tenon/protocol';
import { currentPath } from '../base-path.ts';
import { goToProvider } from '../state/provider-sign-in.ts';
import { saveReturnPath } from '../state/return-path.ts';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { ErrorView } from './error-view.tsx';

/** Buttons that sign in with the server's providers. The codes allow a new account. */
export function ProviderButtons({ codes }: { readonly codes: ProviderSignInInput }) {
  const { view } = useSession();
  if (view.status !== 'ready' || view.providers.length === 0) return null;
  return (
    <div class="stack">
      {view.passwordSignIn && view.account === null ? <p class="soft small">or</p> : null}
      <div class="choice choice-single">
        {view.providers.map((provider) => (
          <ProviderButton key={provider.id} provider={provider} codes={codes} isPrimary={!view.passwordSignIn} />
        ))}
      </div>
    </div>
  );
}

function ProviderButton(props: {
  readonly provider: SignInProviderInfo;
  readonly codes: ProviderSignInInput;
  readonly isPrimary: boolean;
}) {
  const { session } = useSession();
  const { provider, codes } = props;
  const { submit, isBusy, error } = useSubmit(async () => {
    const path = currentPath();
    if (!/^\/sign-(?:in|up)\b/.test(path)) saveReturnPath(path);
    await goToProvider(session, provider.id, codes);
  });
  return (
    <>
      <Button kind={props.isPrimary ? 'primary' : 'quiet'} isBusy={isBusy} onClick={submit}>
        Continue with {provider.label}
      </Button>
      <ErrorView error={error} />
    </>
  );
}

export { explainRefusal, readProviderReturn, reportConfirmation } from '../state/provider-sign-in.ts';
