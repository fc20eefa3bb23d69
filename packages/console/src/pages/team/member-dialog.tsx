import type { Member, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { useSubmit } from '../../state/use-submit.ts';
import { roleChoices } from './use-app.ts';

/** Changes the role of a member. */
export function MemberDialog(props: {
  readonly member: Member;
  readonly onChange: (role: MemberRole) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { member, onChange, onClose } = props;
  const [role, setRole] = useState<MemberRole>(member.role);
  const { submit, isBusy, error } = useSubmit(() => onChange(role));
  return (
    <Dialog title={`The role of ${member.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <RadioGroup legend="Role" name="role" options={roleChoices} value={role} onChange={setRole} />
        <p class="soft small">Pending invitations that the new role may not create are revoked.</p>
        <ErrorView error={error} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" isBusy={isBusy} isDisabled={role === member.role}>
            Change role
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
