import type { RevokedCredentials } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { counted } from '../../components/count.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { useServices } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

const choices = [
  { value: 'others', label: 'All others', hint: 'You stay signed in in this browser.' },
  { value: 'all', label: 'Everything, also here', hint: 'You sign in again.' },
] as const;

type Choice = (typeof choices)[number]['value'];

/** Ends all credentials of the account at once. The API client asks for the password if the server requires it. */
export function RevokeAllButton({ onDone }: { readonly onDone: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        End all…
      </Button>
      {isAsking ? <RevokeAllDialog onDone={onDone} onClose={() => setAsking(false)} /> : null}
    </>
  );
}

function RevokeAllDialog({ onDone, onClose }: { readonly onDone: () => void; readonly onClose: () => void }) {
  const { session, toasts } = useServices();
  const [choice, setChoice] = useState<Choice>('others');
  const form = useSubmit(async () => {
    const includeCurrent = choice === 'all';
    const { sessions, tokens, apiKeys } = await session.api.post<RevokedCredentials>('/api/v1/credentials/revoke-all', {
      includeCurrent,
    });
    toasts.show(
      `Ended ${counted(sessions, 'session')}, ${counted(tokens, 'access token')} and ${counted(apiKeys, 'API key')}.`,
    );
    if (includeCurrent) {
      session.setAccount(null);
      return;
    }
    onDone();
    onClose();
  });
  return (
    <FormDialog title="End all sessions, tokens and keys?" action="End all" isDangerous form={form} onClose={onClose}>
      <p>
        Browsers are signed out, and hosts and programs that use a token or a key stop working at once. Pending logins
        and unused links end too. Your password and passkeys stay.
      </p>
      <RadioGroup legend="End" name="choice" options={choices} value={choice} onChange={setChoice} hasFocus />
    </FormDialog>
  );
}
