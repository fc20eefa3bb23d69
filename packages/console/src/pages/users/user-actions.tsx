import type { UserDetails } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { counted } from '../../components/count.ts';
import { DeleteSection } from '../../components/delete-section.tsx';
import { Section } from '../../components/page.tsx';
import { useServices } from '../../state/services.ts';
import { PasswordLinkSection } from './password-link.tsx';

interface Props {
  readonly user: UserDetails;
  /** The user's path in the API. */
  readonly apiPath: string;
  readonly onChanged: () => void;
}

/** What an operator can do to another user. */
export function UserActions(props: Props) {
  const { user, apiPath } = props;
  const { name, pluginCount } = user;
  return (
    <>
      <PasswordLinkSection {...props} />
      <OperatorSection {...props} />
      <SuspensionSection {...props} />
      <DeleteSection
        title="Delete user"
        intro="Deletes the account, immediately and permanently. A suspension, in contrast, can end."
        apiPath={apiPath}
        next="/users"
        done="User deleted."
        typed={name}
      >
        <p>
          This deletes {name}’s sessions, tokens, keys, memberships, guests, and{' '}
          {pluginCount === 0 ? 'plugins' : counted(pluginCount, 'plugin')} with their bindings. Hosts stop getting these
          plugins at once.
        </p>
      </DeleteSection>
    </>
  );
}

/** A state of the user that is set with `PUT` and unset with `DELETE`. */
interface Switch {
  readonly title: string;
  readonly intro: string;
  readonly action: string;
  readonly isDangerous: boolean;
  /** The dialog's text. */
  readonly effect: string;
  readonly done: string;
  readonly isOn: boolean;
  readonly path: string;
}

function SwitchSection({ of, onChanged }: { readonly of: Switch; readonly onChanged: () => void }) {
  const { session, toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const { title, action, isDangerous, path } = of;
  const change = async (): Promise<void> => {
    if (of.isOn) await session.api.delete(path);
    else await session.api.put(path);
    setAsking(false);
    toasts.show(of.done);
    onChanged();
  };
  return (
    <Section isBeside title={title} intro={of.intro}>
      <Button kind={isDangerous ? 'danger' : 'quiet'} onClick={() => setAsking(true)}>
        {action}…
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={`${action}?`}
          action={action}
          isDangerous={isDangerous}
          onConfirm={change}
          onClose={() => setAsking(false)}
        >
          <p>{of.effect}</p>
        </ConfirmDialog>
      ) : null}
    </Section>
  );
}

function OperatorSection({ user: { name, isOperator }, apiPath, onChanged }: Props) {
  const texts = isOperator
    ? {
        action: 'Revoke the operator role',
        isDangerous: true,
        effect: `${name} no longer sees the server’s status and its users. Memberships and plugins stay.`,
        done: `${name} is no longer an operator.`,
      }
    : {
        action: 'Make operator',
        isDangerous: false,
        effect: `${name} can then suspend and delete any user, and sign in as any user by resetting the password.`,
        done: `${name} is an operator now.`,
      };
  return (
    <SwitchSection
      of={{
        title: 'Operator',
        intro: 'Operators see the server’s status and manage its users. They have no rights on applications.',
        isOn: isOperator,
        path: `${apiPath}/operator`,
        ...texts,
      }}
      onChanged={onChanged}
    />
  );
}

function SuspensionSection({ user: { name, suspendedAt }, apiPath, onChanged }: Props) {
  const isSuspended = suspendedAt !== null;
  const texts = isSuspended
    ? {
        action: 'End the suspension',
        effect: `${name} can sign in again. Sessions, access tokens, and API keys stay revoked.`,
        done: `${name} is no longer suspended.`,
        isDangerous: false,
      }
    : {
        action: 'Suspend user',
        effect: `Sessions, access tokens, and API keys of ${name} are revoked on all nodes within a second, also those that hosts use. They stay revoked when the suspension ends. Plugins and their bindings stay.`,
        done: `${name} is suspended.`,
        isDangerous: true,
      };
  return (
    <SwitchSection
      of={{
        title: 'Suspension',
        intro: isSuspended
          ? 'The user can’t sign in.'
          : 'Ends sessions, tokens and keys for good. The user can’t sign in until you end the suspension.',
        isOn: isSuspended,
        path: `${apiPath}/suspension`,
        ...texts,
      }}
      onChanged={onChanged}
    />
  );
}
