import type { Account } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { YourNameField } from '../../components/account-fields.tsx';
import { Section } from '../../components/page.tsx';
import { SubmitRow } from '../../components/submit-row.tsx';
import { useAccount, useServices } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

export function NameSection() {
  const { session, toasts } = useServices();
  const account = useAccount();
  const [name, setName] = useState(account.name);
  const form = useSubmit(async () => {
    session.setAccount(await session.api.put<Account>('/api/v1/me', { name }));
    toasts.show('Name changed.');
  }, ['name']);
  return (
    <Section isBeside title="Name">
      <form onSubmit={form.submit} class="form-narrow">
        <YourNameField value={name} onInput={setName} error={form.fieldError('name')} />
        <SubmitRow
          form={form}
          action="Change name"
          kind="quiet"
          isDisabled={name.trim() === '' || name === account.name}
        />
      </form>
    </Section>
  );
}
