import type { Passkey, PasskeyList, RecoveryCodes, RegisteredPasskey } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { RecoveryCodesDialog } from '../../components/recovery-codes-dialog.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { createPasskey, hasPasskeys, wordsOf } from '../../state/passkeys.ts';
import { useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useSubmit } from '../../state/use-submit.ts';

/** The passkeys and recovery codes of the account. */
export function PasskeysSection() {
  const { session, toasts } = useServices();
  const list = useData(() => session.confirmed((calls) => calls.get<PasskeyList>('/session/passkeys')), []);
  const [isAdding, setAdding] = useState(false);
  const [renamed, setRenamed] = useState<Passkey>();
  const [removed, setRemoved] = useState<Passkey>();
  const [isReplacing, setReplacing] = useState(false);
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Section
      isBeside
      title="Passkeys and recovery codes"
      intro="A passkey signs you in with this device’s screen lock or a security key. With one, your password alone is not enough."
      actions={
        hasPasskeys() ? (
          <Button kind="quiet" isSmall onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        ) : undefined
      }
    >
      {hasPasskeys() ? null : <p class="soft">{wordsOf('')}</p>}
      <Loaded of={list}>
        {({ objects, recoveryCodes }) =>
          objects.length === 0 ? (
            <p class="soft">You have no passkey.</p>
          ) : (
            <>
              <PasskeyTable passkeys={objects} onRename={setRenamed} onRemove={setRemoved} />
              <p>
                {recoveryCodes} of your recovery codes are unused.{' '}
                <Button kind="quiet" isSmall onClick={() => setReplacing(true)}>
                  New recovery codes…
                </Button>
              </p>
            </>
          )
        }
      </Loaded>
      {isAdding ? (
        <AddDialog
          onAdded={(added) => {
            setAdding(false);
            setCodes(added.recoveryCodes);
            list.reload();
            toasts.show('Passkey added.');
          }}
          onClose={() => setAdding(false)}
        />
      ) : null}
      {renamed === undefined ? null : (
        <RenameDialog
          passkey={renamed}
          onClose={() => setRenamed(undefined)}
          onDone={() => {
            setRenamed(undefined);
            list.reload();
          }}
        />
      )}
      {removed === undefined ? null : (
        <ConfirmDialog
          title={`Remove “${removed.name}”?`}
          action="Remove passkey"
          isDangerous
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await session.confirmed((calls) => calls.delete(`/session/passkeys/${removed.id}`));
            setRemoved(undefined);
            list.reload();
            toasts.show('Passkey removed.');
          }}
        >
          <p>Other browsers that used it are signed out. Remove it from the device too.</p>
        </ConfirmDialog>
      )}
      {isReplacing ? (
        <ConfirmDialog
          title="Replace your recovery codes?"
          action="Create codes"
          onClose={() => setReplacing(false)}
          onConfirm={async () => {
            const made = await session.confirmed((calls) => calls.post<RecoveryCodes>('/session/recovery-codes', {}));
            setReplacing(false);
            setCodes(made.codes);
            list.reload();
          }}
        >
          <p>Your earlier codes stop working.</p>
        </ConfirmDialog>
      ) : null}
      {codes === undefined ? null : <RecoveryCodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </Section>
  );
}

function PasskeyTable(props: {
  readonly passkeys: readonly Passkey[];
  readonly onRename: (passkey: Passkey) => void;
  readonly onRemove: (passkey: Passkey) => void;
}) {
  return (
    <Table
      caption="Your passkeys"
      rows={props.passkeys}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Name',
          cell: ({ name, isCurrent }) => (
            <>
              {name} {isCurrent ? <Badge kind="good">used here</Badge> : null}
            </>
          ),
        },
        { header: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
        {
          header: 'Actions',
          isActions: true,
          cell: (passkey) => (
            <>
              <Button kind="quiet" isSmall label={`Rename ${passkey.name}`} onClick={() => props.onRename(passkey)}>
                Rename…
              </Button>
              <Button kind="quiet" isSmall label={`Remove ${passkey.name}`} onClick={() => props.onRemove(passkey)}>
                Remove…
              </Button>
            </>
          ),
        },
      ]}
    />
  );
}

function AddDialog(props: { readonly onAdded: (added: RegisteredPasskey) => void; readonly onClose: () => void }) {
  const { session } = useServices();
  const [name, setName] = useState('');
  const form = useSubmit(async () => {
    const added = await session.confirmed(async (calls) => {
      const response = await createPasskey(await calls.post('/session/passkeys/options', {}));
      return calls.post<RegisteredPasskey>('/session/passkeys', { name, response });
    });
    props.onAdded(added);
  }, ['name']);
  return (
    <FormDialog
      title="Add a passkey"
      action="Continue"
      isDisabled={name.trim() === ''}
      form={form}
      onClose={props.onClose}
    >
      <p>Your browser then asks where to store it.</p>
      <TextField
        label="Name"
        name="name"
        value={name}
        onInput={setName}
        maxLength={200}
        hint="For you, such as “Laptop” or “Blue key”."
        error={form.fieldError('name')}
        hasFocus
      />
    </FormDialog>
  );
}

function RenameDialog(props: { readonly passkey: Passkey; readonly onDone: () => void; readonly onClose: () => void }) {
  const { session } = useServices();
  const { id, name: present } = props.passkey;
  const [name, setName] = useState(present);
  const form = useSubmit(async () => {
    await session.confirmed((calls) => calls.put(`/session/passkeys/${id}`, { name }));
    props.onDone();
  }, ['name']);
  return (
    <FormDialog
      title={`Rename “${present}”`}
      action="Rename"
      isDisabled={name.trim() === '' || name === present}
      form={form}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        name="name"
        value={name}
        onInput={setName}
        maxLength={200}
        error={form.fieldError('name')}
        hasFocus
      />
    </FormDialog>
  );
}
