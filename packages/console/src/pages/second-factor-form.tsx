import type { SessionState } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { TextField } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';

/** The step after the password: the passkey, or a recovery code. */
export function SecondFactorForm(props: {
  readonly secondFactor: NonNullable<SessionState['secondFactor']>;
  readonly onBack: () => void;
}) {
  const { session } = useSession();
  const [usesCode, setUsesCode] = useState(false);
  const [code, setCode] = useState('');
  const passkey = useSubmit(() => session.signInWithPasskey());
  const recovery = useSubmit(() => session.signInWithRecoveryCode(code), ['code']);
  const back = (
    <Button kind="quiet" onClick={props.onBack}>
      Back
    </Button>
  );
  if (usesCode) {
    return (
      <Page title="Use a recovery code" intro="Each of your recovery codes works once.">
        <form onSubmit={recovery.submit} class="stack">
          <TextField
            label="Recovery code"
            name="code"
            value={code}
            onInput={setCode}
            error={recovery.fieldError('code')}
            autoComplete="one-time-code"
            maxLength={64}
            isCode
            hasFocus
          />
          <SubmitRow form={recovery} action="Sign in" isDisabled={code.trim() === ''} />
        </form>
        <div class="actions">
          <Button kind="quiet" onClick={() => setUsesCode(false)}>
            Use your passkey instead
          </Button>
          {back}
        </div>
      </Page>
    );
  }
  return (
    <Page title="Use your passkey" intro="Your account needs its passkey after the password.">
      <ErrorView error={passkey.error} />
      <div class="actions">
        <Button isBusy={passkey.isBusy} onClick={passkey.submit} hasFocus>
          Use your passkey
        </Button>
      </div>
      <p>
        {props.secondFactor.hasRecoveryCodes ? (
          <Button kind="quiet" onClick={() => setUsesCode(true)}>
            Use a recovery code
          </Button>
        ) : (
          <span class="soft small">Lost your passkey? Ask the operator of this server.</span>
        )}
        {back}
      </p>
    </Page>
  );
}
