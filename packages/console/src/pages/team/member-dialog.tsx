import type { Member, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { hasCode } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { RadioGroup } from '../../components/choices.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { TextField } from '../../components/field.tsx';
import { useSubmit } from '../../state/use-submit.ts';
import { roleWords } from './use-app.ts';

const roles = Object.entries(roleWords).map(([value, words]) => ({
  value: value as MemberRole,
  label: value,
  hint: words,
}));

/** Adds a member, or changes the role of one. */
export function MemberDialog(props: {
  /** Whose role is to be changed; nobody's where a member is added. */
  readonly member?: Member;
  readonly isTaken?: (userId: string) => boolean;
  readonly onPut: (userId: string, role: MemberRole) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { member, onPut, onClose } = props;
  const [typedId, setTypedId] = useState(member?.userId ?? '');
  const [role, setRole] = useState<MemberRole>(member?.role ?? 'admin');
  const userId = typedId.trim();
  const { submit, isBusy, error } = useSubmit(() => onPut(userId, role));
  const isUnknown = member === undefined && hasCode(error, 'not_found');
  const fault = isUnknown ? 'No user has this id.' : idFault(userId, props.isTaken);
  return (
    <Dialog title={member === undefined ? 'Add a member' : `The role of ${member.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        {member !== undefined ? null : (
          <TextField
            label="User id"
            name="userId"
            value={typedId}
            onInput={setTypedId}
            isCode
            hasFocus
            placeholder="usr_…"
            error={fault}
            hint="Everybody finds their own on the page of their account."
          />
        )}
        <RadioGroup legend="Role" name="role" options={roles} value={role} onChange={setRole} />
        <ErrorView error={isUnknown ? undefined : error} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            isBusy={isBusy}
            isDisabled={role === member?.role || (fault !== undefined && !isUnknown)}
          >
            {member === undefined ? 'Add' : 'Change the role'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The id's form as `@tenon/protocol` knows it, whose library pages do without. */
const userIdForm = /^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** What is wrong with what has been typed so far, once it can't become a user's id. */
function idFault(userId: string, isTaken: ((userId: string) => boolean) | undefined): string | undefined {
  const isBeginning = 'usr_'.startsWith(userId) || (userId.startsWith('usr_') && userId.length < 30);
  if (userId.includes('@')) return 'That is an e-mail address. A user id begins with usr_.';
  if (!isBeginning && !userIdForm.test(userId)) return 'A user id is usr_ and 26 letters and digits.';
  return isTaken?.(userId) === true ? 'This user is in the team already.' : undefined;
}
