import type { Account } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { TextField } from '../../components/field.tsx';
import { Section } from '../../components/page.tsx';
import { useAccount, useServices } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

export function NameSection() {
  const { session, toasts } = useServices();
  const account = useAccount();
  const [name, setName] = useState(account.name);
  const { submit, isBusy, error, fieldError } = useSubmit(async () => {
    session.setAccount(await session.api.put<Account>('/api/v1/me', { name }));
    toasts.show('Name changed.');
  }, ['name']);
  return (
    <Section isBeside title="Name">
      <form onSubmit={submit} class="form-narrow">
        <TextField
          label="Your name"
          name="name"
          value={name}
          onInput={setName}
          autoComplete="name"
          maxLength={200}
          error={fieldError('name')}
          hint="Visible to the teams and guests that you work with."
        />
        <ErrorView error={error} />
        <div class="actions">
          <Button type="submit" kind="quiet" isBusy={isBusy} isDisabled={name.trim() === '' || name === account.name}>
            Change name
          </Button>
        </div>
      </form>
    </Section>
  );
}
